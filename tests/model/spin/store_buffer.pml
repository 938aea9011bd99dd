// SPDX-License-Identifier: Apache-2.0
//
// The memory under every model: shared words, and the one writer's store buffer in front of them.
//
// A store does not reach memory at once. It waits in the buffer, and the drain process moves it to
// memory at some later moment. Two machines are modelled:
//
//   -DTSO   (x86)          stores reach memory in the order in which they were issued;
//   -DPSO   (Arm and kin)  stores may overtake each other, except that
//             - two stores to the same location keep their order (coherence),
//             - a release store waits for every older store, while younger ones may overtake it,
//             - no store younger than a release fence overtakes a store older than the fence.
//
// How it is written down: each buffered store carries the SET of older buffered stores it must wait
// for, as a bit mask. A store whose set is empty may drain. A fence occupies no entry: it only
// remembers how many stores were in the buffer, and every later store waits for those.
//
// Death of the writer: `frozen` becomes true at any moment. From then on the writer issues nothing
// and nothing drains; what is still buffered is lost. The other kind of death, in which the stores
// already issued do reach memory, is contained in this: the scheduler lets the writer rest while
// the buffer drains and freezes it later.
//
// The reader loads from memory only: it is another process and never sees the buffer.

#if !defined(TSO) && !defined(PSO)
#error choose the machine: -DTSO or -DPSO
#endif

#ifndef CAP
#define CAP 8  // stores the buffer holds; the writer waits when it is full
#endif

byte mem[LOCATIONS];

byte buffered = 0;      // entries in use, oldest first
byte fenced = 0;        // the oldest `fenced` entries precede the latest fence
byte buf_at[CAP];       // location
byte buf_value[CAP];    // value
short buf_waits[CAP];   // set of older entries that must drain first
bool frozen = false;    // the writer is dead and memory will never change again

hidden byte scan;       // scratch of d_steps; not part of the state

#define ALL_OLDER ((1 << buffered) - 1)
#define BEFORE_FENCE ((1 << fenced) - 1)

#ifdef TSO
#define WAITS_RELAXED buf_waits[buffered] = ALL_OLDER
#else
#define WAITS_RELAXED \
  buf_waits[buffered] = BEFORE_FENCE; \
  scan = 0; \
  do \
  :: scan < buffered -> \
     if \
     :: buf_at[scan] == buf_at[buffered] -> \
        buf_waits[buffered] = buf_waits[buffered] | (1 << scan) \
     :: else \
     fi; \
     scan++ \
  :: else -> break \
  od
#endif

inline relaxed(location, value) {
  d_step {
    !frozen && buffered < CAP ->
    buf_at[buffered] = location;
    buf_value[buffered] = value;
    WAITS_RELAXED;
    buffered++
  }
}

inline release(location, value) {
  d_step {
    !frozen && buffered < CAP ->
    buf_at[buffered] = location;
    buf_value[buffered] = value;
    buf_waits[buffered] = ALL_OLDER;
    buffered++
  }
}

inline release_fence() {
  d_step { !frozen -> fenced = buffered }
}

// Entry i reaches memory; younger entries move down by one and forget it.
inline drain_entry(i) {
  d_step {
    mem[buf_at[i]] = buf_value[i];
    if
    :: i < fenced -> fenced--
    :: else
    fi;
    buffered--;
    scan = i;
    do
    :: scan < buffered ->
       buf_at[scan] = buf_at[scan + 1];
       buf_value[scan] = buf_value[scan + 1];
       buf_waits[scan] = (buf_waits[scan + 1] & ((1 << i) - 1)) |
                         ((buf_waits[scan + 1] >> (i + 1)) << i);
       scan++
    :: else -> break
    od;
    buf_at[buffered] = 0;
    buf_value[buffered] = 0;
    buf_waits[buffered] = 0
  }
}

#define MAY_DRAIN(i) (!frozen && i < buffered && buf_waits[i] == 0)

active proctype drain() {
end:
  do
  :: atomic { MAY_DRAIN(0) -> drain_entry(0) }
#ifdef PSO
  :: atomic { MAY_DRAIN(1) -> drain_entry(1) }
  :: atomic { MAY_DRAIN(2) -> drain_entry(2) }
  :: atomic { MAY_DRAIN(3) -> drain_entry(3) }
#if CAP > 4
  :: atomic { MAY_DRAIN(4) -> drain_entry(4) }
  :: atomic { MAY_DRAIN(5) -> drain_entry(5) }
#endif
#if CAP > 6
  :: atomic { MAY_DRAIN(6) -> drain_entry(6) }
  :: atomic { MAY_DRAIN(7) -> drain_entry(7) }
#endif
#if CAP > 8
  :: atomic { MAY_DRAIN(8) -> drain_entry(8) }
  :: atomic { MAY_DRAIN(9) -> drain_entry(9) }
#endif
#if CAP > 10 || (CAP != 4 && CAP != 6 && CAP != 8 && CAP != 10)
#error CAP must be 4, 6, 8 or 10: one line above for each entry
#endif
#endif
  od
}

// A model may let the writer die only between two readings, to save states: death in the middle of
// one looks to that reading like a writer that happens not to move.
#ifndef DEATH_MOMENT
#define DEATH_MOMENT true
#endif

active proctype death() {
  atomic { DEATH_MOMENT -> frozen = true }
}
