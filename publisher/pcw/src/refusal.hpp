// SPDX-License-Identifier: Apache-2.0
//
// Statuses and the sentences behind them.
#pragma once

#include <string>

#include "meterbank/base/result.hpp"
#include "ntstatus.h"
#include "winerror.h"

namespace meterbank::pcw {

// Keeps the sentence for last_refusal() and gives the status back.
NTSTATUS refuse(NTSTATUS status, std::string why) noexcept;
DWORD refuse_as(DWORD error, std::string why) noexcept;

// The codes of the two interfaces for errors of the publisher library.
NTSTATUS refuse(const Error& error) noexcept;
DWORD refuse_as_error(const Error& error) noexcept;

}  // namespace meterbank::pcw
