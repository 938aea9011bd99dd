// SPDX-License-Identifier: Apache-2.0
#include "rows/copy_limits.hpp"

#include <cstring>

#include "measure.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace meterbank::bench {

void library_copy(std::uint64_t* target, const std::uint64_t* source, std::size_t words) noexcept {
  std::memcpy(target, source, words * sizeof *target);
  keep(target);
}

#if defined(__x86_64__)

namespace {

[[gnu::target("avx2")]] void wide_copy(std::uint64_t* target, const std::uint64_t* source,
                                       std::size_t words) noexcept {
  std::size_t word = 0;
  for (; word + 8 <= words; word += 8) {
    const auto* from = reinterpret_cast<const __m256i*>(source + word);
    auto* to = reinterpret_cast<__m256i*>(target + word);
    const __m256i low = _mm256_loadu_si256(from);
    const __m256i high = _mm256_loadu_si256(from + 1);
    _mm256_storeu_si256(to, low);
    _mm256_storeu_si256(to + 1, high);
  }
  for (; word < words; ++word) target[word] = source[word];
}

}  // namespace

void plain_copy(std::uint64_t* target, const std::uint64_t* source, std::size_t words) noexcept {
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) {
    wide_copy(target, source, words);
    keep(target);
  } else {
    library_copy(target, source, words);
  }
}

#else

void plain_copy(std::uint64_t* target, const std::uint64_t* source, std::size_t words) noexcept {
  library_copy(target, source, words);
}

#endif

}  // namespace meterbank::bench
