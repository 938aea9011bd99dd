// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/cpu_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "arbiter/core/file/foreign_text.hpp"

namespace meterbank::arbiter {

namespace {

constexpr std::uint32_t kWordBits = 64;

// One CPU or two of them with a dash between. Linux writes neither signs nor hexadecimal digits.
Result<std::uint32_t> read_cpu(std::string_view text, std::string_view part) {
  const bool is_decimal = !text.starts_with("0x");
  const auto cpu = is_decimal ? read_number<std::uint64_t>(text) : std::nullopt;
  if (!cpu) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("CPU set: {} is neither a number nor a range", in_quotes(part)),
                "write CPUs as 0-15,18");
  }
  if (*cpu >= kCpusMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("CPU set: {} is beyond the last CPU there can be", in_quotes(part)),
                fmt::format("CPUs are numbered 0 to {}", kCpusMax - 1));
  }
  return static_cast<std::uint32_t>(*cpu);
}

}  // namespace

Result<CpuSet> CpuSet::parse(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  CpuSet set;
  if (text.empty()) return set;
  for (const std::string_view part : parts_of(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = read_cpu(part.substr(0, dash), part);
    if (!first) return tl::make_unexpected(first.error());
    auto last = first;
    if (dash != std::string_view::npos) last = read_cpu(part.substr(dash + 1), part);
    if (!last) return tl::make_unexpected(last.error());
    if (*last < *first) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("CPU set: {} ends before it begins", in_quotes(part)),
                  fmt::format("write {}-{}", *last, *first));
    }
    set.add_range(*first, *last);
  }
  return set;
}

CpuSet CpuSet::range(std::uint32_t first, std::uint32_t last) {
  CpuSet set;
  set.add_range(first, std::min(last, kCpusMax - 1));
  return set;
}

// By words: a hostile list may name all CPUs some thousand times.
void CpuSet::add_range(std::uint32_t first, std::uint32_t last) {
  if (first > last) return;
  const std::size_t last_word = last / kWordBits;
  if (words_.size() <= last_word) words_.resize(last_word + 1);
  for (std::size_t i = first / kWordBits; i <= last_word; ++i) {
    std::uint64_t mask = ~std::uint64_t{0};
    if (i == first / kWordBits) mask <<= first % kWordBits;
    if (i == last_word) mask &= ~std::uint64_t{0} >> (kWordBits - 1 - last % kWordBits);
    words_[i] |= mask;
  }
}

void CpuSet::add(std::uint32_t cpu) {
  if (cpu < kCpusMax) add_range(cpu, cpu);
}

bool CpuSet::contains(std::uint32_t cpu) const noexcept {
  const std::size_t word = cpu / kWordBits;
  return word < words_.size() && ((words_[word] >> (cpu % kWordBits)) & 1) != 0;
}

bool CpuSet::empty() const noexcept { return words_.empty(); }

std::size_t CpuSet::count() const noexcept {
  std::size_t count = 0;
  for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

bool CpuSet::is_within(const CpuSet& other) const noexcept {
  if (words_.size() > other.words_.size()) return false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & ~other.words_[i]) != 0) return false;
  }
  return true;
}

bool CpuSet::meets(const CpuSet& other) const noexcept {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) {
    if ((words_[i] & other.words_[i]) != 0) return true;
  }
  return false;
}

CpuSet CpuSet::common_with(const CpuSet& other) const {
  CpuSet common;
  common.words_.resize(std::min(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < common.words_.size(); ++i) {
    common.words_[i] = words_[i] & other.words_[i];
  }
  while (!common.words_.empty() && common.words_.back() == 0) common.words_.pop_back();
  return common;
}

std::vector<std::uint32_t> CpuSet::numbers() const {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(count());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
      numbers.push_back(static_cast<std::uint32_t>(i) * kWordBits + bit);
    }
  }
  return numbers;
}

std::string CpuSet::text() const {
  std::string text;
  const std::vector<std::uint32_t> cpus = numbers();
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += fmt::format("{}", cpus[i]);
    if (end - i > 1) text += fmt::format("-{}", cpus[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace meterbank::arbiter
