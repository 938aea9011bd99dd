// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/atomics.hpp"

namespace meterbank {
namespace {

void copy_scalar(std::uint64_t* target, const std::atomic<std::uint64_t>* source,
                 std::size_t count) noexcept {
  for (std::size_t word = 0; word < count; ++word) {
    target[word] = StdAtomics::load_relaxed(source[word]);
  }
}

#ifdef METERBANK_VECTOR_LOADS
using Copy = void (*)(std::uint64_t*, const std::atomic<std::uint64_t>*, std::size_t) noexcept;

// Both vendors document that an aligned 8-byte lane of a vector load is read as a whole. Assembler,
// because the compiler may not split, repeat or merge these loads of memory that others store to.
void copy_avx2(std::uint64_t* target, const std::atomic<std::uint64_t>* source,
               std::size_t count) noexcept {
  std::size_t word = 0;
  for (; word + 16 <= count; word += 16) {
    asm volatile(
        "vmovdqu   (%1), %%ymm0\n\t"
        "vmovdqu 32(%1), %%ymm1\n\t"
        "vmovdqu 64(%1), %%ymm2\n\t"
        "vmovdqu 96(%1), %%ymm3\n\t"
        "vmovdqu %%ymm0,   (%0)\n\t"
        "vmovdqu %%ymm1, 32(%0)\n\t"
        "vmovdqu %%ymm2, 64(%0)\n\t"
        "vmovdqu %%ymm3, 96(%0)"
        :
        : "r"(target + word), "r"(source + word)
        : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
  }
  for (; word + 4 <= count; word += 4) {
    asm volatile("vmovdqu (%1), %%ymm0\n\tvmovdqu %%ymm0, (%0)"
                 :
                 : "r"(target + word), "r"(source + word)
                 : "xmm0", "memory");
  }
  asm volatile("vzeroupper" : : : "xmm0", "xmm1", "xmm2", "xmm3");
  copy_scalar(target + word, source + word, count - word);
}

void copy_with_the_widest(std::uint64_t* target, const std::atomic<std::uint64_t>* source,
                          std::size_t count) noexcept;

// The first copy of the process replaces itself by the one for this processor.
// Constant-initialised, because objects of the program that are constructed before main() may read,
// too. relaxed, all accesses: whichever function a thread finds here copies the words, code needs
// no publication, and every thread that chooses chooses the same.
constinit std::atomic<Copy> copy_chosen{copy_with_the_widest};

void copy_with_the_widest(std::uint64_t* target, const std::atomic<std::uint64_t>* source,
                          std::size_t count) noexcept {
  __builtin_cpu_init();  // the compiler's own library may not have started yet
  const Copy copy = __builtin_cpu_supports("avx2") != 0 ? copy_avx2 : copy_scalar;
  copy_chosen.store(copy, std::memory_order_relaxed);
  copy(target, source, count);
}
#endif

}  // namespace

constinit ProcessEpoch process_epoch;

void copy_words_relaxed(std::uint64_t* target, const std::atomic<std::uint64_t>* source,
                        std::size_t count) noexcept {
#ifdef METERBANK_VECTOR_LOADS
  copy_chosen.load(std::memory_order_relaxed)(target, source, count);  // relaxed: see above
#else
  copy_scalar(target, source, count);
#endif
}

}  // namespace meterbank
