// SPDX-License-Identifier: Apache-2.0
//
// The settled commit: one writer, one block of two words, two copies.
//
//   writer, commit of version v                 reader
//     copy 1 := words        relaxed              s := seq                  acquire
//     seq    := 2v - 1       release  [odd]       words := copy[s & 1]      relaxed
//     fence                  release              fence                     acquire
//     copy 0 := same words   relaxed              accept iff seq == s       relaxed
//     seq    := 2v           release  [even]
//     fence                  release
//
// The commit point is the odd publish, so the version of a snapshot is (s + 1) / 2.
//
// Promised, whatever the writer does and wherever it dies:
//   words_of_version   an accepted snapshot holds exactly the words of version (s + 1) / 2
//   monotone           versions accepted one after the other never decrease
//   fresh              no snapshot is older than what memory showed when the attempt began
//   readable_at_rest   an attempt begun after the writer's death succeeds
//   bounded_failures   a reader fails at most once for each publish
//
// -DSPARSE lets each commit touch word 0, word 1 or both; otherwise each touches both.
// The seeded faults are the #ifdef lines below and those in latch_reader.pml.

#ifndef VERSIONS
#define VERSIONS 3
#endif

#define SEQ 0
#define AT(copy_number, i) (1 + 2 * (copy_number) + (i))
#define LOCATIONS 5

#include "store_buffer.pml"
#include "latch_reader.pml"

#ifdef ONE_COPY
#define VERSION_OF(seq) ((seq) / 2)
#else
#define VERSION_OF(seq) (((seq) + 1) / 2)
#endif

#ifdef NO_RELEASE_ON_ODD
#define publish_odd(value) relaxed(SEQ, value)
#else
#define publish_odd(value) release(SEQ, value)
#endif
#ifdef NO_FENCE_AFTER_ODD
#define fence_after_odd() skip
#else
#define fence_after_odd() release_fence()
#endif
#ifdef NO_RELEASE_ON_EVEN
#define publish_even(value) relaxed(SEQ, value)
#else
#define publish_even(value) release(SEQ, value)
#endif
#ifdef NO_FENCE_AFTER_EVEN
#define fence_after_even() skip
#else
#define fence_after_even() release_fence()
#endif

// What the words of each version are: known to the checks, not to the reader.
byte truth_0[VERSIONS + 1];
byte truth_1[VERSIONS + 1];

inline choose_words() {
  d_step { truth_0[v] = truth_0[v - 1]; truth_1[v] = truth_1[v - 1] };
#ifdef SPARSE
  if
  :: touch_0 = 1; touch_1 = 0
  :: touch_0 = 0; touch_1 = 1
  :: touch_0 = 1; touch_1 = 1
  fi;
#else
  d_step { touch_0 = 1; touch_1 = 1 };
#endif
  d_step {
    if
    :: touch_0 -> truth_0[v] = v
    :: else
    fi;
    if
    :: touch_1 -> truth_1[v] = v
    :: else
    fi
  }
}

inline write_copy(c) {
  if
  :: touch_0 -> relaxed(AT(c, 0), v)
  :: else
  fi;
  if
  :: touch_1 -> relaxed(AT(c, 1), v)
  :: else
  fi
}

active proctype writer() {
  byte v = 0;
  bit touch_0, touch_1;
  do
  :: v < VERSIONS ->
     atomic { v++; choose_words() };
#ifdef ONE_COPY
     relaxed(SEQ, 2 * v - 1);
     release_fence();
     write_copy(0);
     release(SEQ, 2 * v)
#else
     write_copy(1);
     publish_odd(2 * v - 1);
     fence_after_odd();
     write_copy(0);
     publish_even(2 * v);
     fence_after_even()
#endif
  :: else -> break
  od
}

// Named, so that a violation says which promise broke; hidden, so that they are no state.
hidden byte words_of_version, monotone, fresh, readable_at_rest, bounded_failures;

// A false claim: refuting it shows that the bound on failures is tight.
hidden byte fewer_failures;

active proctype reader() {
  byte last = 0;       // the newest version accepted so far
  byte failures = 0;
  byte floor;          // the version in memory when the attempt begins
  bool at_rest;        // the writer was dead when the attempt began
  do
  :: d_step { at_rest = frozen; floor = VERSION_OF(mem[SEQ]) };
     snapshot(SEQ, AT(0, 0), 2);
     atomic {
       if
       :: accepted ->
          words_of_version = (word[0] == truth_0[VERSION_OF(s)] &&
                              word[1] == truth_1[VERSION_OF(s)]);
          assert(words_of_version);
          monotone = (VERSION_OF(s) >= last);
          assert(monotone);
          fresh = (VERSION_OF(s) >= floor);
          assert(fresh);
          last = VERSION_OF(s)
       :: else ->
          readable_at_rest = !at_rest;
          assert(readable_at_rest);
#ifndef ONE_COPY
          // Memory's seq is the number of publishes it has seen. The seqlock breaks this promise
          // too, by failing on every odd value; its run is to show the unreadable block.
          failures++;
          bounded_failures = (failures <= mem[SEQ]);
          assert(bounded_failures);
#ifdef CLAIM_FEWER_FAILURES
          fewer_failures = (failures < mem[SEQ]);
          assert(fewer_failures)
#endif
#endif
       fi;
       forget_snapshot();
       at_rest = false;
       floor = 0
     }
  od
}
