// SPDX-License-Identifier: Apache-2.0
//
// Stores that happen on one processor, undisturbed, or not at all: restartable sequences, rseq(2).
//
// ---- The idea -----------------------------------------------------------------------------------
//
// A thread shows the kernel a few instructions. Should anything come between them (another thread
// gets the processor, this one moves, a signal arrives), the thread does not go on there but at an
// address of its choice. The last of them is the only one whose effect is visible. Once it
// has been done, nothing else ran on that processor since the first: not even a signal handler.
//
//        thread                                      kernel, before the thread goes on
//        area.sequence := descriptor                 ip in [11, 12)?  ip := 13
//   11:  area.processor = p?    else leave           (only if the mark stands before 13)
//        word = what I saw?     else leave
//        unseen stores, any number                   +-- descriptor, 32 bytes --------------+
//        one store              the commit           | 0, 0 | 11 | 12 - 11 | 13             |
//   12:  ...                                         +--------------------------------------+
//
//   mark
//   13:  leave
//
// The area is a thread's own and lies at a fixed distance from its thread pointer; the C library
// has registered it. Its number of the processor is negative in a thread that is not registered.
//
// ---- A block for each processor -----------------------------------------------------------------
//
// So a block has one writer at a time without a lock: the thread that runs on its processor.
// Independent counters are added to by one plain addition. A commit changes the number once:
//
//        thread on processor p                       readers: as ever, block.hpp
//        s := seq                    acquire  [X6]
// [X5]   fence                       release
//        value := copy[s & 1][word], changed
//      + seq = s?                    else again
//      | copy[(s + 1) & 1] := copy[s & 1], but value at word
// [X7] + seq := s + 1, or s + 3 if s is odd   release
//
// Several words at once are changed in a private copy, and the sequence copies that.
//
// It departs from the settled commit of block.hpp in two points, and readers need not know either.
// The copies differ at rest, and readers may rest at copy 1: a number says which copy is whole, and
// that is all they ask of it. From an odd number it grows by three, so that it is even, and
// (s + 1) / 2 still counts commits one by one; no two states share a version.
//
//      X5 pairs with R2, where W2 and W4 do otherwise. The last commit may be another thread's.
//      This one has seen its number before the fence; so a reader that sees a word of the copy
//      that readers of the number before were sent to sees that seq has moved on. X6 pairs with X7
//      of the last commit. Without it a thread that has moved to another processor could load words
//      that are older than the number; the comparison would succeed, and the commit would undo
//      another one. X7 is a release, as W1.
//
// An abort leaves garbage in the copy that no reader is sent to. Therefore each commit writes all
// of its words. The checkpoint pair is written in the same manner, by its own number, which is
// loaded before the version that goes there: so that no checkpoint is older than the one before.
//
// Progress   Each attempt is wait-free, and fails only if the thread was interrupted. A debugger
//            that goes step by step interrupts each: callers give up after kSequenceAttempts and
//            share (sharded.hpp).
// Crash      Before the last store nothing has happened, after it all.
// Memory     The kernel may look at the descriptor that a thread used last, so code with sequences
//            must stay loaded while threads that ran it live: stay_loaded.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "meterbank/shm/segment_layout.hpp"

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__) && \
    !defined(METERBANK_THREAD_SANITIZER)
#define METERBANK_RESTARTABLE 1
#endif

namespace meterbank::detail {

inline constexpr std::uint32_t kSequenceAttempts = 16;

// Of struct rseq; checked against the system's header where that is there.
inline constexpr std::size_t kAreaProcessor = 4;
inline constexpr std::size_t kAreaSequence = 8;

// How far the areas of all threads lie from their thread pointers. 0: there are none, or they are
// not to be used. Asks the environment, so callers that need it often keep its answer.
[[nodiscard]] std::ptrdiff_t rseq_area() noexcept;

// Of publish_on().
struct Publication {
  SharedWord* number;
  std::uint64_t seen, next;
  SharedWord* target;
  const void* source;  // 8-byte words, shared or private
  std::uint64_t words;
  std::uint64_t word, value;  // target[word] := value
};

#ifdef METERBANK_RESTARTABLE

// The sections belong to the group of the function that they are of, so that a linker which drops
// one of two equal functions drops all of it.
#define METERBANK_SEQUENCE_DESCRIPTOR   \
  ".pushsection __rseq_cs, \"aw?\"\n\t" \
  ".balign 32\n"                        \
  "10:\n\t"                             \
  ".long 0, 0\n\t"                      \
  ".quad 11f, 12f - 11f, 13f\n\t"       \
  ".popsection\n\t"

#if defined(__x86_64__)

#define METERBANK_SEQUENCE_BEGIN            \
  METERBANK_SEQUENCE_DESCRIPTOR             \
  "leaq 10b(%%rip), %%rax\n\t"              \
  "movq %%rax, %%fs:8(%[area])\n"           \
  "11:\n\t"                                 \
  "cmpl %k[processor], %%fs:4(%[area])\n\t" \
  "jne %l[left]\n\t"
// The mark is the displacement of an instruction that is never executed.
#define METERBANK_SEQUENCE_END               \
  "\n12:\n\t"                                \
  ".pushsection __rseq_failure, \"ax?\"\n\t" \
  ".byte 0x0f, 0xb9, 0x3d\n\t"               \
  ".long 0x53053053\n"                       \
  "13:\n\t"                                  \
  "jmp %l[left]\n\t"                         \
  ".popsection"

// The processor that the thread is on, perhaps no longer when the caller looks at the answer. A
// number that no processor has if the thread is not registered.
[[nodiscard]] inline std::uint64_t processor_now(std::ptrdiff_t area) noexcept {
  std::uint64_t processor;
  asm volatile("movl %%fs:4(%1), %k0" : "=r"(processor) : "r"(area));
  return processor;
}

// These three return whether it was done. If not, nothing was: the thread was interrupted, is on
// another processor, or the word is not what it was.
[[nodiscard, gnu::always_inline]] inline bool add_on(std::ptrdiff_t area, std::uint64_t processor,
                                                     SharedWord& word,
                                                     std::uint64_t delta) noexcept {
  asm goto(METERBANK_SEQUENCE_BEGIN  //
           "addq %[delta], %[word]"  //
           METERBANK_SEQUENCE_END
           :
           : [area] "r"(area), [processor] "r"(processor), [word] "m"(word), [delta] "er"(delta)
           : "rax", "cc", "memory"
           : left);
  return true;
left:
  return false;
}

[[nodiscard, gnu::always_inline]] inline bool store_on(std::ptrdiff_t area, std::uint64_t processor,
                                                       SharedWord& word, std::uint64_t seen,
                                                       std::uint64_t next) noexcept {
  asm goto(METERBANK_SEQUENCE_BEGIN  //
           "cmpq %[seen], %[word]\n\t"
           "jne %l[left]\n\t"
           "movq %[next], %[word]"  //
           METERBANK_SEQUENCE_END
           :
           : [area] "r"(area), [processor] "r"(processor), [word] "m"(word), [seen] "r"(seen),
             [next] "r"(next)
           : "rax", "cc", "memory"
           : left);
  return true;
left:
  return false;
}

// Copies at least one word into a copy that no reader is sent to, with another value for one of
// them; then stores the number.
[[nodiscard, gnu::always_inline]] inline bool publish_on(std::ptrdiff_t area,
                                                         std::uint64_t processor,
                                                         const Publication& what) noexcept {
  asm goto(METERBANK_SEQUENCE_BEGIN
           "cmpq %[seen], %[number]\n\t"
           "jne %l[left]\n\t"
           "movq %[words], %%rcx\n"
           "14:\n\t"
           "movq -8(%[source],%%rcx,8), %%rax\n\t"
           "movq %%rax, -8(%[target],%%rcx,8)\n\t"
           "decq %%rcx\n\t"
           "jnz 14b\n\t"
           "movq %[value], (%[target],%[word],8)\n\t"
           "movq %[next], %[number]"  // [X7] all stores of x86-64 are releases
           METERBANK_SEQUENCE_END
           :
           : [area] "r"(area), [processor] "r"(processor), [number] "m"(*what.number),
             [seen] "r"(what.seen), [next] "r"(what.next), [target] "r"(what.target),
             [source] "r"(what.source), [words] "r"(what.words), [word] "r"(what.word),
             [value] "r"(what.value)
           : "rax", "rcx", "cc", "memory"
           : left);
  return true;
left:
  return false;
}

#else  // AArch64

#define METERBANK_SEQUENCE_BEGIN \
  METERBANK_SEQUENCE_DESCRIPTOR  \
  "adrp x16, 10b\n\t"            \
  "add x16, x16, :lo12:10b\n\t"  \
  "str x16, [%[area], #8]\n"     \
  "11:\n\t"                      \
  "ldr w16, [%[area], #4]\n\t"   \
  "cmp w16, %w[processor]\n\t"   \
  "b.ne %l[left]\n\t"
#define METERBANK_SEQUENCE_END               \
  "\n12:\n\t"                                \
  ".pushsection __rseq_failure, \"ax?\"\n\t" \
  ".balign 4\n\t"                            \
  ".inst 0xd428bc00\n"                       \
  "13:\n\t"                                  \
  "b %l[left]\n\t"                           \
  ".popsection"

[[nodiscard]] inline char* area_of_thread(std::ptrdiff_t area) noexcept {
  return static_cast<char*>(__builtin_thread_pointer()) + area;
}

// As for x86-64.
[[nodiscard]] inline std::uint64_t processor_now(std::ptrdiff_t area) noexcept {
  std::uint64_t processor;
  asm volatile("ldr %w0, [%1, #4]" : "=r"(processor) : "r"(area_of_thread(area)));
  return processor;
}

[[nodiscard, gnu::always_inline]] inline bool add_on(std::ptrdiff_t area, std::uint64_t processor,
                                                     SharedWord& word,
                                                     std::uint64_t delta) noexcept {
  asm goto(METERBANK_SEQUENCE_BEGIN
           "ldr x17, [%[word]]\n\t"
           "add x17, x17, %[delta]\n\t"
           "str x17, [%[word]]"  //
           METERBANK_SEQUENCE_END
           :
           : [area] "r"(area_of_thread(area)), [processor] "r"(processor), [word] "r"(&word),
             [delta] "r"(delta)
           : "x16", "x17", "cc", "memory"
           : left);
  return true;
left:
  return false;
}

[[nodiscard, gnu::always_inline]] inline bool store_on(std::ptrdiff_t area, std::uint64_t processor,
                                                       SharedWord& word, std::uint64_t seen,
                                                       std::uint64_t next) noexcept {
  asm goto(METERBANK_SEQUENCE_BEGIN
           "ldr x17, [%[word]]\n\t"
           "cmp x17, %[seen]\n\t"
           "b.ne %l[left]\n\t"
           "str %[next], [%[word]]"  //
           METERBANK_SEQUENCE_END
           :
           : [area] "r"(area_of_thread(area)), [processor] "r"(processor), [word] "r"(&word),
             [seen] "r"(seen), [next] "r"(next)
           : "x16", "x17", "cc", "memory"
           : left);
  return true;
left:
  return false;
}

[[nodiscard, gnu::always_inline]] inline bool publish_on(std::ptrdiff_t area,
                                                         std::uint64_t processor,
                                                         const Publication& what) noexcept {
  asm goto(METERBANK_SEQUENCE_BEGIN
           "ldr x17, [%[number]]\n\t"
           "cmp x17, %[seen]\n\t"
           "b.ne %l[left]\n\t"
           "mov x16, %[words]\n"
           "14:\n\t"
           "sub x16, x16, #1\n\t"
           "ldr x17, [%[source], x16, lsl #3]\n\t"
           "str x17, [%[target], x16, lsl #3]\n\t"
           "cbnz x16, 14b\n\t"
           "str %[value], [%[target], %[word], lsl #3]\n\t"
           "stlr %[next], [%[number]]"  // [X7] stlr is a release
           METERBANK_SEQUENCE_END
           :
           : [area] "r"(area_of_thread(area)), [processor] "r"(processor),
             [number] "r"(what.number), [seen] "r"(what.seen), [next] "r"(what.next),
             [target] "r"(what.target), [source] "r"(what.source), [words] "r"(what.words),
             [word] "r"(what.word), [value] "r"(what.value)
           : "x16", "x17", "cc", "memory"
           : left);
  return true;
left:
  return false;
}

#endif

#undef METERBANK_SEQUENCE_DESCRIPTOR
#undef METERBANK_SEQUENCE_BEGIN
#undef METERBANK_SEQUENCE_END

#else

// Never called: rseq_area() is 0.
inline std::uint64_t processor_now(std::ptrdiff_t) noexcept { return 0xffffffff; }
inline bool add_on(std::ptrdiff_t, std::uint64_t, SharedWord&, std::uint64_t) noexcept {
  return false;
}
inline bool store_on(std::ptrdiff_t, std::uint64_t, SharedWord&, std::uint64_t,
                     std::uint64_t) noexcept {
  return false;
}
inline bool publish_on(std::ptrdiff_t, std::uint64_t, const Publication&) noexcept { return false; }

#endif

}  // namespace meterbank::detail
