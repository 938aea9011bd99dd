// SPDX-License-Identifier: Apache-2.0
//
// The epoch cut: a writer that commits to blocks 0 and 1 in turn, so that each commit follows from
// the one before, the heartbeat of its process, and a reader of both blocks.
//
//   heartbeat                writer, commit of version v to block b     reader
//     epoch := e               seen := epoch                relaxed       e := settled
//     barrier in the writer    if it moved: save version    [E1..E3]      each block, in any order:
//     settled := e               v - 1 under its epoch                      its state at e
//                              block := v                   release
//
// The settled commit has a model of its own, so a block is one word here. The reader loads in
// order; what its fences are worth is looked at by the relacy scenario "cut".
//
// -DONE_BLOCK leaves block 1 out, so that there is room for a third save, which overwrites the
// first.
//
// Promised, whatever the writer does and wherever it dies:
//   causal         the two states are of one moment: block 0 is at block 1's version or one on
//   of_one_save    what was taken from the epoch pair is one save, not parts of two

#ifndef VERSIONS
#define VERSIONS 2
#endif
#ifndef EPOCHS
#define EPOCHS 2
#endif

#define HOT(b) (8 * (b))
#define ECOUNT(b) (8 * (b) + 1)
#define SAVED(b, k) (8 * (b) + 2 + 3 * (k))
#define EPOCH(b, k) (8 * (b) + 3 + 3 * (k))
#define BEFORE(b, k) (8 * (b) + 4 + 3 * (k))
#define LOCATIONS 16

// Death in the middle of a reading looks to it like a process that does not happen to move.
bool reading = false;
#define DEATH_MOMENT (!reading)

#include "store_buffer.pml"

#ifdef NO_FENCE_AFTER_ANNOUNCEMENT
#define fence_after_announcement() skip
#else
#define fence_after_announcement() release_fence()
#endif
#ifdef NO_RELEASE_ON_ECOUNT
#define publish_save(at, value) relaxed(at, value)
#else
#define publish_save(at, value) release(at, value)
#endif
#ifdef NO_RELEASE_ON_COMMIT
#define publish_commit(at, value) relaxed(at, value)
#else
#define publish_commit(at, value) release(at, value)
#endif

byte epoch = 0;
byte settled = 0;

// What each save of each block stands for, by its epoch: known to the checks, not to the reader.
byte truth_0[EPOCHS + 1];
byte truth_1[EPOCHS + 1];

inline save(b, ecount, seen) {
#ifndef NO_ANNOUNCEMENT
  relaxed(ECOUNT(b), ecount + 1);
  fence_after_announcement();
#endif
  d_step {
    if
    :: b == 0 -> truth_0[now] = v - 1
    :: else -> truth_1[now] = v - 1
    fi
  };
  relaxed(SAVED(b, (ecount / 2 + 1) % 2), v - 1);
  relaxed(EPOCH(b, (ecount / 2 + 1) % 2), now);
  relaxed(BEFORE(b, (ecount / 2 + 1) % 2), seen);
  publish_save(ECOUNT(b), ecount + 2);
  d_step { ecount = ecount + 2; seen = now }
}

inline commit(b, ecount, seen) {
#ifdef SAVE_AFTER
  publish_commit(HOT(b), v);
#endif
  now = epoch;
  if
  :: now != seen -> save(b, ecount, seen)
  :: else
  fi;
#ifndef SAVE_AFTER
  publish_commit(HOT(b), v);
#endif
  release_fence();
  now = 0
}

active proctype writer() {
  byte v = 0;
  byte now = 0;
  byte ecount_0 = 0, seen_0 = 0, ecount_1 = 0, seen_1 = 0;
  do
  :: v < VERSIONS ->
     v++;
     commit(0, ecount_0, seen_0);
#ifndef ONE_BLOCK
     commit(1, ecount_1, seen_1)
#endif
  :: else -> break
  od
}

active proctype heartbeat() {
end:
  do
  :: !frozen && epoch < EPOCHS ->
     epoch++;
#ifndef NO_BARRIER
     // Once the writer has issued nothing that is not in memory.
     buffered == 0;
#endif
     settled = epoch
  :: else -> break
  od
}

inline read_at(b, state) {
  c = mem[ECOUNT(b)];
  k = (c / 2) % 2;
  at = mem[EPOCH(b, k)];
  if
  :: at < e -> state = mem[HOT(b)]
  :: else ->
     before = mem[BEFORE(b, k)];
     if
     :: before < e
     :: else ->
        k = 1 - k;
        at = mem[EPOCH(b, k)];
        before = mem[BEFORE(b, k)];
#ifndef NO_ANNOUNCEMENT
        had = had && c % 2 == 0;
#endif
        had = had && before < e && at >= e
     fi;
     state = mem[SAVED(b, k)];
     from_pair = true
  fi;
#ifndef NO_RECHECK
  had = had && mem[ECOUNT(b)] == c;
#endif
  if
  :: had && from_pair ->
     of_one_save = (state == (b == 0 -> truth_0[at] : truth_1[at]));
     assert(of_one_save)
  :: else
  fi;
  d_step { from_pair = false; c = 0; k = 0; at = 0; before = 0 }
}

hidden byte causal, of_one_save;
// False claims: refuting them shows that the older copy, and a lost epoch, are reached.
hidden byte never_lost;

active proctype reader() {
  byte e, c, k, at, before;
  byte state_0, state_1;
  bool had, from_pair;
  do
  ::
#ifdef READ_EPOCH
     e = epoch;
#else
     e = settled;
#endif
     if
     :: e == 0 -> skip
     :: else ->
        atomic { had = true; reading = true };
#ifdef ONE_BLOCK
        read_at(0, state_0);
        state_1 = state_0;
#else
        if
        :: read_at(0, state_0); read_at(1, state_1)
        :: read_at(1, state_1); read_at(0, state_0)
        fi;
#endif
        atomic {
          if
          :: had ->
             causal = (state_0 == state_1 || state_0 == state_1 + 1);
             assert(causal)
          :: else ->
#ifdef CLAIM_NEVER_LOST
             never_lost = false;
             assert(never_lost)
#endif
             skip
          fi;
          reading = false; had = false; state_0 = 0; state_1 = 0; e = 0
        }
     fi
  od
}
