// SPDX-License-Identifier: Apache-2.0
//
// A sharded instance: threads that take a number, count in the block of it and give it back; a
// reader that joins the blocks; and the end of the instance's life and the beginning of the next.
//
//   thread                                        creator, when all handles of the life are gone
//     take the lowest free number   acquire [X2]    slot := g, CLOSED            release
//     block of it not opened in                     fence                        release
//     this life: its word := g, LIVE                slot := g + 1, INIT          relaxed
//                                   release         fence                        release
//     count := what is there + 1    relaxed         counts of used blocks := 0   relaxed
//     give the number back          release [X1]    slot := g + 1, LIVE          release
//
//   reader: slot word acquire; block 0, and block 1 if its word says LIVE in this life; fence;
//           accepted if the slot is in the same life still
//
// The settled commit has a model of its own, so a block is one word here, stored as in an
// independent set. The word of block 0 is the slot's. The reader loads in order, the blocks in any;
// what its fences are worth, and the fence [X4], is looked at by the relacy scenarios.
//
// Promised, whatever the threads do and wherever their process dies:
//   nothing_lost   the sum holds all that threads counted in this life which had given their number
//                  back when the reading began
//   nothing_twice  and no more than had begun to count when it ended
//
// -DONE_LIFE leaves the second life out, so that there is room for more threads.

#ifndef THREADS
#define THREADS 1  // one after the other, on each of two processors, in each life
#endif

#define SLOT 0
#define OPENED 1
#define COUNT(k) (2 + (k))
#define LIFE 4  // process-private: handles of this life are there
#define REST 5  // of the fault only
#define LOCATIONS 6

#define INIT 1
#define LIVE 2
#define CLOSED 3
#define SLOT_WORD(generation, state) ((generation) * 4 + (state))
#define GENERATION(slot_word) ((slot_word) / 4)
#define STATE(slot_word) ((slot_word) % 4)

// Death in the middle of a reading looks to it like a process that does not happen to move.
bool reading = false;
#define DEATH_MOMENT (!reading)

#include "two_store_buffers.pml"

byte taken = 0;       // set of numbers
bool has_left = false;  // thread 1 has let go of the first life
// By life. Known to the checks, not to the reader.
byte begun[3];
byte finished[3];

#ifdef NO_RELEASE
#define MAY_GIVE_BACK(t) MAY_CHANGE(t)
#else
#define MAY_GIVE_BACK(t) MAY_RELEASE(t)
#endif
#ifdef NO_RELEASE_ON_LIVE
#define publish_live() relaxed(0, SLOT, SLOT_WORD(2, LIVE))
#else
#define publish_live() release(0, SLOT, SLOT_WORD(2, LIVE))
#endif
#ifdef NO_RELEASE_ON_OPENING
#define publish_opened(t, g) relaxed(t, OPENED, SLOT_WORD(g, LIVE))
#else
#define publish_opened(t, g) release(t, OPENED, SLOT_WORD(g, LIVE))
#endif

hidden byte nothing_lost, nothing_twice;
// False claims: refuting them shows that the model reaches what it talks about.
hidden byte never_handed_over, never_both;
byte last_of_0 = 2;  // who had number 0 last; 2: no thread

#define LOWEST_FREE ((taken & 1) == 0 -> 0 : 1)

inline take(t) {
  atomic {
    MAY_CHANGE(t) ->
    k = LOWEST_FREE;
    assert((taken & (1 << k)) == 0);
    taken = taken | (1 << k);
#ifdef CLAIM_NEVER_HANDED_OVER
    never_handed_over = !(k == 0 && last_of_0 == 1 - t);
    assert(never_handed_over);
    if
    :: k == 0 -> last_of_0 = t
    :: else
    fi
#endif
  }
}

inline give_back(t) {
  atomic { MAY_GIVE_BACK(t) -> taken = taken & ~(1 << k) }
}

inline open_block(t, g) {
  if
  :: k == 1 ->
     read_back(t, OPENED, word);
     if
     :: word != SLOT_WORD(g, LIVE) -> publish_opened(t, g)
     :: else
     fi;
     word = 0
  :: else
  fi
}

// One thread from its first count to its end. Those of one processor share its buffer, which is no
// more than a buffer can do.
inline live(t, g) {
#ifdef NO_ACQUIRE
  early = LOWEST_FREE;
  read_back(t, COUNT(early), v);
#endif
  take(t);
#ifdef NO_ACQUIRE
  if
  :: early != k -> read_back(t, COUNT(k), v)
  :: else
  fi;
#else
  read_back(t, COUNT(k), v);
#endif
  begun[g]++;
  open_block(t, g);
#ifdef GIVE_BACK_EARLY
  give_back(t);
#endif
  relaxed(t, COUNT(k), v + 1);
#ifdef FOLD_AND_EMPTY
  atomic { MAY_RELEASE(t) -> mem[REST] = mem[REST] + v + 1 };
  relaxed(t, COUNT(k), 0);
#endif
#ifndef GIVE_BACK_EARLY
  give_back(t);
#endif
  // A thread that joins the other knows that it has ended.
  atomic { MAY_RELEASE(t) -> finished[g]++ };
  d_step { k = 0; v = 0 }
}

inline write_first_values() {
  relaxed(0, COUNT(0), 0);
#ifndef FIRST_VALUES_OF_BLOCK_0_ONLY
  read_back(0, OPENED, word);
  if
  :: word != 0 -> relaxed(0, COUNT(1), 0)
  :: else
  fi;
  word = 0
#endif
}

inline begin_next_life() {
  has_left;
  release(0, SLOT, SLOT_WORD(1, CLOSED));
  release_fence(0);
  relaxed(0, SLOT, SLOT_WORD(2, INIT));
  release_fence(0);
#ifdef FIRST_VALUES_AFTER_LIVE
  publish_live();
  write_first_values();
#else
  write_first_values();
  publish_live();
#endif
  release(0, LIFE, 2)
}

active proctype first_thread() {
  byte k, v, word, early, lived;
  d_step { mem[SLOT] = SLOT_WORD(1, LIVE) };
  do
  :: lived < THREADS -> live(0, 1); lived++
  :: else -> break
  od;
#ifndef ONE_LIFE
  begin_next_life();
  lived = 0;
  do
  :: lived < THREADS -> live(0, 2); lived++
  :: else -> break
  od
#endif
}

active proctype second_thread() {
  byte k, v, word, early, lived;
  mem[SLOT] != 0;
  do
  :: lived < THREADS -> live(1, 1); lived++
  :: else -> break
  od;
#ifndef ONE_LIFE
  atomic { MAY_RELEASE(1) -> has_left = true };
  !frozen && mem[LIFE] == 2;
  lived = 0;
  do
  :: lived < THREADS -> live(1, 2); lived++
  :: else -> break
  od
#endif
}

inline add_block_0() {
  sum = sum + mem[COUNT(0)];
  had_0 = mem[COUNT(0)] != 0
}
inline add_block_1() {
  opened = mem[OPENED];
  if
  :: opened == SLOT_WORD(g, LIVE) -> sum = sum + mem[COUNT(1)]
  :: else
  fi
}

#ifdef NO_RECHECK
#define SAME_LIFE true
#else
#define SAME_LIFE (GENERATION(mem[SLOT]) == g)
#endif

active proctype reader() {
  byte g, opened, sum, at_least;
  bool had_0;
  mem[SLOT] != 0;
  do
  :: atomic {
       g = GENERATION(mem[SLOT]);
       if
       :: STATE(mem[SLOT]) == INIT -> g = 0
       :: else -> reading = true; at_least = finished[g]
       fi
     };
     if
     :: g == 0
     :: else ->
#ifdef FOLD_AND_EMPTY
        sum = mem[REST];
#endif
        if
        :: add_block_0(); add_block_1()
        :: add_block_1(); add_block_0()
        fi;
        atomic {
          if
          :: SAME_LIFE ->
             nothing_lost = (sum >= at_least);
             assert(nothing_lost);
             nothing_twice = (sum <= begun[g]);
             assert(nothing_twice);
#ifdef CLAIM_NEVER_BOTH
             never_both = !(g == 2 && had_0 && opened == SLOT_WORD(2, LIVE));
             assert(never_both)
#endif
          :: else
          fi;
          reading = false; g = 0; opened = 0; sum = 0; at_least = 0; had_0 = false
        }
     fi
  od
}
