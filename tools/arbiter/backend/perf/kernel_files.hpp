// SPDX-License-Identifier: Apache-2.0
//
// Small files of the kernel, read below a directory that is held open.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "arbiter/core/cpu_set.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

inline constexpr std::size_t kKernelFileBytesMax = 4096;
inline constexpr std::size_t kKernelEntriesMax = 65536;  // of a directory

[[nodiscard]] Result<UniqueFd> hold_directory(const std::string& path);
// Empty if there is none.
[[nodiscard]] UniqueFd directory_at(int directory, const char* path) noexcept;
[[nodiscard]] UniqueFd file_at(int directory, const char* path) noexcept;
// Without the newlines at its end; what is beyond the limit is left out. Nothing: no such file.
[[nodiscard]] std::optional<std::string> text_of_file(int file);
[[nodiscard]] std::optional<std::string> text_at(int directory, const std::string& path);
// Nothing where the file is missing or is not a CPU list.
[[nodiscard]] std::optional<CpuSet> cpus_at(int directory, const std::string& path);
// Names, ascending, without those that begin with a point. None if there is no such directory.
[[nodiscard]] std::vector<std::string> names_at(int directory, const char* path);

}  // namespace meterbank::arbiter
