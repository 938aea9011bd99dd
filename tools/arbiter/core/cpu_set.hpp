// SPDX-License-Identifier: Apache-2.0
//
// A set of CPU numbers, written as Linux writes it: "0-15,18".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

inline constexpr std::uint32_t kCpusMax = 4096;

class CpuSet {
 public:
  CpuSet() = default;

  // Of nothing, or of a newline alone: no CPUs, which is how Linux writes that. A newline at the
  // end is passed over. Errors: kInvalidArgument, with the part that is no number, no range, or
  // beyond kCpusMax.
  [[nodiscard]] static Result<CpuSet> parse(std::string_view text);
  // Both included. Empty if reversed; what is beyond kCpusMax is left out.
  [[nodiscard]] static CpuSet range(std::uint32_t first, std::uint32_t last);

  void add(std::uint32_t cpu);  // ignores what is beyond kCpusMax
  [[nodiscard]] bool contains(std::uint32_t cpu) const noexcept;
  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] std::size_t count() const noexcept;
  [[nodiscard]] bool is_within(const CpuSet& other) const noexcept;
  [[nodiscard]] bool meets(const CpuSet& other) const noexcept;  // shares a CPU with it
  [[nodiscard]] CpuSet common_with(const CpuSet& other) const;
  [[nodiscard]] std::vector<std::uint32_t> numbers() const;  // ascending
  // Calls `use` with each of them, ascending, as long as it returns true. Whether all did.
  template <typename F>
  bool all_of(F&& use) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
        if (!use(static_cast<std::uint32_t>(i * 64) +
                 static_cast<std::uint32_t>(std::countr_zero(left)))) {
          return false;
        }
      }
    }
    return true;
  }
  [[nodiscard]] std::string text() const;

  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  void add_range(std::uint32_t first, std::uint32_t last);  // `last` below kCpusMax

  std::vector<std::uint64_t> words_;  // without zeros at its end
};

}  // namespace meterbank::arbiter
