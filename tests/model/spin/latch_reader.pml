// SPDX-License-Identifier: Apache-2.0
//
// One snapshot attempt on a latch (a sequence word and two copies), as a set of loads.
//
//   1. s = seq (acquire)   2. the words of copy[s & 1] (relaxed)   3. acquire fence   4. seq again
//
// A relaxed load may happen as soon as nothing orders it behind another load. So the attempt is not
// a list of statements but a loop that performs any load whose predecessors are done:
//
//   first seq -> each word          by the acquire                 -DNO_ACQUIRE drops this rule
//   each word -> second seq         by the acquire fence           -DNO_ACQUIRE_FENCE drops it
//   word <-> word                   no rule: any order
//   first seq -> second seq         same location: always in order
//
// Without the acquire the machine may load words before it knows which copy is wanted: it guesses a
// copy, and forgets what it loaded if the guess turns out wrong.
//
// Results: s, word[], and accepted.

#define GOT_SEQ 8
#define GOT_AGAIN 16
#define GOT_WORD(i) (1 << (i))
#define GOT_WORDS(width) ((1 << (width)) - 1)

byte s, s_again;
byte word[3];
byte got;
bit copy;          // the copy being read
bool accepted;

#ifdef NO_ACQUIRE
#define WORDS_MAY_START true
#else
#define WORDS_MAY_START (got & GOT_SEQ)
#endif

#ifdef NO_ACQUIRE_FENCE
#define AGAIN_MAY_START(width) (got & GOT_SEQ)
#else
#define AGAIN_MAY_START(width) ((got & GOT_SEQ) && (got & GOT_WORDS(width)) == GOT_WORDS(width))
#endif

#ifdef ONE_COPY
#define COPY_OF(seq) 0
#define UNCHANGED (s_again == s && (s & 1) == 0)  // the seqlock: odd means "being written"
#else
#define COPY_OF(seq) (seq & 1)
#if defined(NO_RECHECK)
#define UNCHANGED true
#elif defined(ACCEPT_NEXT)
#define UNCHANGED (s_again == s || s_again == s + 1)
#else
#define UNCHANGED (s_again == s)
#endif
#endif

inline load_word(first, width, i) {
  d_step {
    i < width && !(got & GOT_WORD(i)) && WORDS_MAY_START ->
    word[i] = mem[first + copy * width + i];
    got = got | GOT_WORD(i)
  }
}

// `first` is the location of word 0 of copy 0; copy 1 follows copy 0.
inline snapshot(seq_at, first, width) {
#ifdef NO_ACQUIRE
  if
  :: copy = 0
  :: copy = 1
  fi;
#endif
  do
  :: d_step {
       !(got & GOT_SEQ) ->
       s = mem[seq_at];
       got = got | GOT_SEQ;
       if
       :: copy != COPY_OF(s) -> copy = COPY_OF(s); got = GOT_SEQ
       :: else
       fi
     }
  :: load_word(first, width, 0)
  :: load_word(first, width, 1)
  :: load_word(first, width, 2)
  :: d_step {
       !(got & GOT_AGAIN) && AGAIN_MAY_START(width) ->
       s_again = mem[seq_at];
       got = got | GOT_AGAIN
     }
  :: d_step {
       got == (GOT_SEQ | GOT_AGAIN | GOT_WORDS(width)) ->
       accepted = UNCHANGED
     };
     break
  od
}

// Forgetting keeps the state space small: two attempts that decided the same are the same state.
inline forget_snapshot() {
  s = 0; s_again = 0; got = 0; copy = 0; accepted = false;
  word[0] = 0; word[1] = 0; word[2] = 0
}
