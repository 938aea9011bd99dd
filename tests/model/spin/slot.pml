// SPDX-License-Identifier: Apache-2.0
//
// One slot that is created, closed and used again, while a reader holds on to an earlier life.
//
// The slot word is gen << 2 | state. A generation never returns. Beside it lie a descriptor word
// and a settled block of two words whose `seq` is never reset. `members` is the membership word of
// the whole registration.
//
// -DTAKEN_OVER adds `directory`, the word that each change of the directory counts up.
//
//   create of generation g                          close of generation g
//     members += 1           release                  members += 1          relaxed
//     fence                  release                  fence                 release
//     slot := g | INIT       relaxed                  slot := g | CLOSED    release
//     fence                  release                  directory += 1        release
//     descriptor             relaxed
//     initial values by a settled commit
//     slot := g | LIVE       release
//     fence                  release
//     directory += 1         release
//
// The reader, in three variants. First it looks the slot up and remembers the generation; much later
// it reads the row, and the slot may have been used again by then.
//
//   by generation (default)                         -DSWEEP, by membership
//     look up: slot             acquire               look up: members      acquire
//                                                              slot         acquire, must be LIVE
//     row: descriptor, settled snapshot               row: the same
//          fence                acquire                    fence            acquire
//          seq unchanged        relaxed                    seq unchanged    relaxed
//          same generation in slot                         same value in members
//
// The third variant, -DTAKEN_OVER, is a sweep of a row that was not looked up again. The reader
// keeps the slot as it found it when `directory` had a number, because nothing was logged of the
// slot since, and takes a later `members` for it:
//
//   look up:   directory                              acquire
//              slot                                   acquire, must be LIVE
//   take over: members                                acquire
//              directory, still the same number       relaxed
//   row:       as in a sweep
//
// Only changes of this slot count in `directory` here: of changes of others the log says that they
// are not this slot's, so they are no difference. It is right on these conditions:
//   - `directory` is loaded again after `members`                       -DDIRECTORY_BEFORE_MEMBERS
//   - ... and looked at                                                 -DNO_DIRECTORY_CHECK
//   - the count of a create is a release: a fence between CLOSED and    -DNO_RELEASE_ON_MEMBERS
//     that count would do for a sweep, but `directory` comes behind it     -DFENCE_AFTER_CLOSED
//   - the change is announced after CLOSED and before the next create   -DDIRECTORY_AFTER_CREATE
//
// A sweep reads the slot word of no row. It is right on three conditions, each shown necessary:
//   - `members` is loaded BEFORE the slot word                          -DSLOT_BEFORE_MEMBERS
//   - the row was LIVE when looked up. A row looked up as CLOSED may    -DSWEEP_TAKES_CLOSED
//     be on its way to the next life with `members` already counted
//     up for it; such a row is read by generation
//   - the count of a create is a release, or a fence stands between     -DNO_RELEASE_ON_MEMBERS
//     CLOSED and the count of the next create
//
// Promised, whatever the writer does and wherever it dies:
//   own_generation     an accepted row holds the descriptor and values of the generation looked up
//   untorn             ... and both words are of one commit
//   final_value        a row looked up as CLOSED shows the last value of that life
//   readable_at_rest   a row looked up after the writer's death is accepted at the first attempt
//
// Values: generation g starts with 2g in both words and is updated once, to 2g + 1.

#ifndef LIVES
#define LIVES 2
#endif

#define MEMBERS 0
#define SLOT 1
#define DESCRIPTOR 2
#define SEQ 3
#define AT(copy_number, i) (4 + 2 * (copy_number) + (i))
#ifdef TAKEN_OVER
#define SWEEP  // the row is read as in a sweep
#define DIRECTORY 8
#define LOCATIONS 9
#else
#define LOCATIONS 8
#endif

#define INIT 1
#define LIVE 2
#define CLOSED 3
#define SLOT_WORD(generation, state) ((generation) * 4 + (state))
#define GENERATION(slot_word) ((slot_word) / 4)
#define STATE(slot_word) ((slot_word) % 4)

short got = 0;  // the loads the reader has done for its present row
#define DEATH_MOMENT (got == 0)

#include "store_buffer.pml"

inline count_created() {
  members++;
#ifdef NO_RELEASE_ON_MEMBERS
  relaxed(MEMBERS, members)
#else
  release(MEMBERS, members)
#endif
}

inline count_closed() {
  members++;
  relaxed(MEMBERS, members)
}

#ifdef TAKEN_OVER
inline announce() {
  directory++;
#ifdef NO_RELEASE_ON_DIRECTORY
  relaxed(DIRECTORY, directory)
#else
  release(DIRECTORY, directory)
#endif
}
#else
#define announce() skip
#endif

#ifdef NO_FENCE_AFTER_MEMBERS
#define fence_after_members() skip
#else
#define fence_after_members() release_fence()
#endif

// Where create and close count: both before they change the slot, unless a flag moves one of them.
#ifdef MEMBERS_AFTER_CREATE
#define members_before_create() skip
#define members_after_create() count_created(); fence_after_members()
#else
#define members_before_create() count_created(); fence_after_members()
#define members_after_create() skip
#endif
#ifdef MEMBERS_AFTER_CLOSE
#define members_before_close() skip
#define members_after_close() count_closed(); fence_after_members()
#else
#define members_before_close() count_closed(); fence_after_members()
#define members_after_close() skip
#endif

#ifdef NO_FENCE_AFTER_INIT
#define fence_after_init() skip
#else
#define fence_after_init() release_fence()
#endif
#ifdef NO_RELEASE_ON_LIVE
#define publish_live() relaxed(SLOT, SLOT_WORD(generation, LIVE))
#else
#define publish_live() release(SLOT, SLOT_WORD(generation, LIVE))
#endif
#ifdef NO_FENCE_AFTER_LIVE
#define fence_after_live() skip
#else
#define fence_after_live() release_fence()
#endif
#ifdef NO_RELEASE_ON_CLOSED
#define publish_closed() relaxed(SLOT, SLOT_WORD(generation, CLOSED))
#else
#define publish_closed() release(SLOT, SLOT_WORD(generation, CLOSED))
#endif
#ifdef FENCE_AFTER_CLOSED
#define fence_after_closed() release_fence()
#else
#define fence_after_closed() skip
#endif

inline commit(value) {
  relaxed(AT(1, 0), value);
  relaxed(AT(1, 1), value);
  release(SEQ, seq + 1);
  release_fence();
  relaxed(AT(0, 0), value);
  relaxed(AT(0, 1), value);
  release(SEQ, seq + 2);
  release_fence();
  seq = seq + 2
}

inline create() {
  generation++;
  members_before_create();
#ifndef INIT_MISSING
  relaxed(SLOT, SLOT_WORD(generation, INIT));
  fence_after_init();
#endif
#ifdef RESET_SEQ
  relaxed(SEQ, 0);
  seq = 0;
#endif
  relaxed(DESCRIPTOR, generation);
  commit(2 * generation);
  publish_live();
  fence_after_live();
  members_after_create();
  announce()
}

inline close() {
  members_before_close();
  publish_closed();
  fence_after_closed();
  members_after_close();
#ifndef DIRECTORY_AFTER_CREATE
  announce()
#endif
}

active proctype writer() {
  byte generation = 0;
  byte members = 0;
  byte seq = 0;
#ifdef TAKEN_OVER
  byte directory = 0;
#endif
  do
  :: generation < LIVES ->
     create();
     commit(2 * generation + 1);
     close()
  :: else -> break
  od
}

// The reader's loads, each done at most once a row; see latch_reader.pml for the idea of a set of
// loads. Here are two more orders: nothing orders the three loads after the acquire fence among
// themselves, and nothing orders the descriptor and the block among themselves.
#define GOT_MEMBERS 1
#define GOT_SLOT 2
#define GOT_DESCRIPTOR 4
#define GOT_SEQ 8
#define GOT_WORD_0 16
#define GOT_WORD_1 32
#define GOT_SEQ_AGAIN 64
#define GOT_CHECK 128
#define GOT_DIRECTORY 256
#define GOT_DIRECTORY_AGAIN 512
#define GOT_ROW (GOT_SLOT | GOT_DESCRIPTOR | GOT_SEQ | GOT_WORD_0 | GOT_WORD_1)
#define HAVE(set) ((got & (set)) == (set))

#ifdef SWEEP
#define NEEDED_FIRST GOT_MEMBERS
#else
#define NEEDED_FIRST 0
#endif
#if defined(TAKEN_OVER) && !defined(NO_DIRECTORY_CHECK)
#define NEEDED_LAST (GOT_SEQ_AGAIN | GOT_CHECK | GOT_DIRECTORY_AGAIN)
#else
#define NEEDED_LAST (GOT_SEQ_AGAIN | GOT_CHECK)
#endif

#if !defined(SWEEP) || defined(SWEEP_TAKES_CLOSED)
#define USABLE (STATE(slot) == LIVE || STATE(slot) == CLOSED)
#else
#define USABLE (STATE(slot) == LIVE)
#endif

#if defined(TAKEN_OVER)
#define SLOT_MAY_LOAD HAVE(GOT_DIRECTORY)
#define MEMBERS_MAY_LOAD HAVE(GOT_SLOT)
#elif defined(SLOT_BEFORE_MEMBERS)
#define SLOT_MAY_LOAD true
#define MEMBERS_MAY_LOAD true
#else
#define MEMBERS_MAY_LOAD true
#define SLOT_MAY_LOAD HAVE(NEEDED_FIRST)
#endif
#ifdef NO_ACQUIRE_LOOK_UP
#define ROW_MAY_START true
#else
#define ROW_MAY_START HAVE(GOT_SLOT | NEEDED_FIRST)
#endif
#ifdef NO_ACQUIRE_FENCE
#define CHECKS_MAY_START HAVE(GOT_SLOT | GOT_SEQ | NEEDED_FIRST)
#else
#define CHECKS_MAY_START HAVE(GOT_ROW | NEEDED_FIRST)
#endif

#if defined(NO_GENERATION_CHECK)
#define SAME_LIFE true
#elif defined(SWEEP)
#define SAME_LIFE (check == member_count)
#else
#define SAME_LIFE (GENERATION(check) == GENERATION(slot))
#endif

#ifdef SWEEP
#define CHECKED_AT MEMBERS
#else
#define CHECKED_AT SLOT
#endif

#ifdef TAKEN_OVER
#define OTHER_DIRECTORY (HAVE(GOT_DIRECTORY_AGAIN) && directory_again != directory)
#else
#define OTHER_DIRECTORY false
#endif
#ifdef DIRECTORY_BEFORE_MEMBERS
#define DIRECTORY_AGAIN_MAY_LOAD HAVE(GOT_SLOT)
#else
#define DIRECTORY_AGAIN_MAY_LOAD HAVE(GOT_MEMBERS)
#endif

// The row's fate is known: the remaining loads can change nothing and are left out.
#define LOST ((HAVE(GOT_SLOT) && !USABLE) || OTHER_DIRECTORY || \
              (HAVE(GOT_SEQ_AGAIN) && s_again != s) || \
              (HAVE(GOT_CHECK) && !SAME_LIFE))

inline load(bits, allowed, variable, location) {
  d_step {
    !(got & bits) && allowed && !LOST ->
    variable = mem[location];
    got = got | bits
  }
}

// Named, so that a violation says which promise broke; hidden, so that they are no state.
hidden byte own_generation, untorn, final_value, readable_at_rest;

// These two are false claims: refuting them shows that the model reaches what it talks about.
hidden byte never_at_rest, never_closed;

active proctype reader() {
  byte member_count, slot, descriptor, s, word_0, word_1, s_again, check;
#ifdef TAKEN_OVER
  byte directory, directory_again;
#endif
  bool at_rest;  // the writer was dead when the look-up began
  do
  :: at_rest = frozen;
     do
#ifdef TAKEN_OVER
     :: load(GOT_DIRECTORY, true, directory, DIRECTORY)
     :: load(GOT_DIRECTORY_AGAIN, DIRECTORY_AGAIN_MAY_LOAD, directory_again, DIRECTORY)
#endif
#ifdef SWEEP
     :: load(GOT_MEMBERS, MEMBERS_MAY_LOAD, member_count, MEMBERS)
#endif
     :: load(GOT_SLOT, SLOT_MAY_LOAD, slot, SLOT)
     :: load(GOT_DESCRIPTOR, ROW_MAY_START, descriptor, DESCRIPTOR)
     :: load(GOT_SEQ, ROW_MAY_START, s, SEQ)
     :: load(GOT_WORD_0, HAVE(GOT_SEQ), word_0, AT(s & 1, 0))
     :: load(GOT_WORD_1, HAVE(GOT_SEQ), word_1, AT(s & 1, 1))
     :: load(GOT_SEQ_AGAIN, CHECKS_MAY_START, s_again, SEQ)
     :: load(GOT_CHECK, CHECKS_MAY_START, check, CHECKED_AT)
     :: LOST -> break
     :: HAVE(GOT_ROW | NEEDED_FIRST | NEEDED_LAST) -> break
     od;
     atomic {
       if
       :: !USABLE  // no row to read: look up again
       :: USABLE && s_again == s && SAME_LIFE && !OTHER_DIRECTORY ->
          own_generation = (descriptor == GENERATION(slot) &&
                            word_0 / 2 == GENERATION(slot) && word_1 / 2 == GENERATION(slot));
          assert(own_generation);
          untorn = (word_0 == word_1);
          assert(untorn);
          final_value = (STATE(slot) != CLOSED || word_0 % 2 == 1);
          assert(final_value);
#ifdef CLAIM_NEVER_AT_REST
          never_at_rest = !at_rest;
          assert(never_at_rest);
#endif
#ifdef CLAIM_NEVER_CLOSED
          never_closed = (STATE(slot) != CLOSED);
          assert(never_closed)
#endif
       :: else ->
          readable_at_rest = !at_rest;
          assert(readable_at_rest)
       fi;
       got = 0; member_count = 0; slot = 0; descriptor = 0; s = 0; word_0 = 0; word_1 = 0;
       s_again = 0; check = 0; at_rest = false
#ifdef TAKEN_OVER
       ; directory = 0; directory_again = 0
#endif
     }
  od
}
