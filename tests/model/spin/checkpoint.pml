// SPDX-License-Identifier: Apache-2.0
//
// The checkpoint pair: a reader answers after a bounded number of steps although the writer never
// pauses. Beside the settled block of settled.pml lies a second latch, rewritten rarely:
//
//   writer, every K-th commit, AFTER its even publish    reader, one bounded read
//     k[(c + 1) & 1] := words, version     relaxed         1 attempt on the block     -> hot
//     cseq           := c + 1              release         else 1 on the checkpoint   -> checkpoint
//     fence                                release         else                       -> busy
//
// A checkpoint may be older than a hot value this reader returned before. The reader therefore
// remembers the highest version it returned and answers busy instead of going back in time.
//
// Promised, whatever the writer does and wherever it dies:
//   untorn                 what is returned is one version, word for word
//   checkpoint_not_newer   a checkpoint returned is never newer than the block in memory
//   never_backwards        versions returned to one reader never decrease
//   readable_at_rest       a read begun after the writer's death is answered hot, never busy
//   busy_means_publish     an attempt fails only if its sequence moved during the attempt
//
// In this model every word of version v holds v, and the checkpoint's third word is the version.

#ifndef VERSIONS
#define VERSIONS 6
#endif
#define K 2

#define SEQ 0
#define AT(copy_number, i) (1 + 2 * (copy_number) + (i))
#define CSEQ 5
#define CHECKPOINT_AT(copy_number, i) (6 + 3 * (copy_number) + (i))
#define LOCATIONS 12

#include "store_buffer.pml"
#include "latch_reader.pml"

#define VERSION_OF(seq) (((seq) + 1) / 2)

#ifdef NO_RELEASE_ON_CSEQ
#define publish_checkpoint(value) relaxed(CSEQ, value)
#else
#define publish_checkpoint(value) release(CSEQ, value)
#endif
#ifdef NO_FENCE_AFTER_CSEQ
#define fence_after_checkpoint() skip
#else
#define fence_after_checkpoint() release_fence()
#endif

inline commit() {
  relaxed(AT(1, 0), v);
  relaxed(AT(1, 1), v);
  release(SEQ, 2 * v - 1);
  release_fence();
  relaxed(AT(0, 0), v);
  relaxed(AT(0, 1), v);
  release(SEQ, 2 * v);
  release_fence()
}

inline checkpoint() {
  if
  :: v % K == 0 ->
     checkpoints++;
     relaxed(CHECKPOINT_AT(checkpoints & 1, 0), v);
     relaxed(CHECKPOINT_AT(checkpoints & 1, 1), v);
     relaxed(CHECKPOINT_AT(checkpoints & 1, 2), v);
     publish_checkpoint(checkpoints);
     fence_after_checkpoint()
  :: else
  fi
}

active proctype writer() {
  byte v = 0;
  byte checkpoints = 0;
  do
  :: v < VERSIONS ->
     v++;
#ifdef CHECKPOINT_FIRST
     checkpoint();
     commit()
#else
     commit();
     checkpoint()
#endif
  :: else -> break
  od
}

// Named, so that a violation says which promise broke; hidden, so that they are no state.
hidden byte untorn, checkpoint_not_newer, never_backwards, readable_at_rest, busy_means_publish;

// These two are false claims: refuting them shows that the model reaches what it talks about.
hidden byte never_busy, never_checkpoint;

active proctype reader() {
  byte highest = 0;  // the highest version returned so far
  bool at_rest;      // the writer was dead when the read began
  do
  :: at_rest = frozen;
     snapshot(SEQ, AT(0, 0), 2);
     atomic {
       if
       :: accepted ->
          untorn = (word[0] == VERSION_OF(s) && word[1] == VERSION_OF(s));
          assert(untorn);
          never_backwards = (VERSION_OF(s) >= highest);
          assert(never_backwards);
          highest = VERSION_OF(s);
          forget_snapshot();
          goto answered
       :: else ->
          readable_at_rest = !at_rest;
          assert(readable_at_rest);
          busy_means_publish = (s_again > s);
          assert(busy_means_publish);
          forget_snapshot()
       fi
     };
     snapshot(CSEQ, CHECKPOINT_AT(0, 0), 3);
     atomic {
       if
       :: accepted ->
          untorn = (word[0] == word[2] && word[1] == word[2] && word[2] == K * s);
          assert(untorn);
#ifndef LOOK_ONLY_BACKWARDS
          checkpoint_not_newer = (word[2] <= VERSION_OF(mem[SEQ]));
          assert(checkpoint_not_newer);
#endif
#ifdef CLAIM_NEVER_CHECKPOINT
          never_checkpoint = (word[2] < highest || word[2] == 0);
          assert(never_checkpoint);
#endif
          if
#ifdef RETURN_OLDER
          :: true ->
#else
          :: word[2] >= highest ->
#endif
             never_backwards = (word[2] >= highest);
             assert(never_backwards);
             highest = word[2]
          :: else  // older than what was returned already: busy
          fi
       :: else ->
          busy_means_publish = (s_again > s);
          assert(busy_means_publish);
#ifdef CLAIM_NEVER_BUSY
          never_busy = false;
          assert(never_busy)
#endif
       fi;
       forget_snapshot()
     };
answered:
     at_rest = false
  od
}
