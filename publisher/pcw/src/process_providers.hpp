// SPDX-License-Identifier: Apache-2.0
//
// The providers of this process, made when they are needed and ended with their last user.
#pragma once

#include <memory>

#include "meterbank/publisher/provider.hpp"

namespace meterbank::pcw {

// A registration and what it stands on.
struct Published {
  std::shared_ptr<Provider> provider;
  Registration registration;
};

// With the process's provider, or with another one of its name where that has such a set already.
// Errors: those of Provider::create and Provider::add.
Result<Published> publish(const CountersetSpec& spec, const Callback& callback);

// A provider that is not shared.
Result<Provider> make_own_provider();

// Lets go of a provider, now or, from inside a callback, which its end would have to wait for,
// later.
void let_go(std::shared_ptr<Provider> provider) noexcept;

}  // namespace meterbank::pcw
