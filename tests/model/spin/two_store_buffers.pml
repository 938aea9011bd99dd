// SPDX-License-Identifier: Apache-2.0
//
// As store_buffer.pml, with a store buffer for each of two threads of one process.
//
// New here are atomic changes, which act on memory and not in a buffer. One that releases waits
// until its thread's buffer is empty. On TSO each one does, because such instructions empty the
// buffer. A thread reads its own stores back from its buffer before they are in memory.
//
// All stores are in memory before another thread sees a release that followed them, and no thread sees
// them in another order. Relacy checks what a fence is worth on machines where that is not so.
//
// Death of the process: `frozen`, both buffers at once.

#if !defined(TSO) && !defined(PSO)
#error choose the machine: -DTSO or -DPSO
#endif

#define CAP 4  // stores a buffer holds; its thread waits when it is full
#define AT_OF(t, i) (CAP * (t) + (i))

byte mem[LOCATIONS];

byte buffered[2];         // entries in use, oldest first
byte fenced[2];           // the oldest of them that precede the latest fence
byte buf_at[2 * CAP];     // location
byte buf_value[2 * CAP];  // value
byte buf_waits[2 * CAP];  // set of older entries that must drain first
bool frozen = false;

hidden byte scan;  // scratch of d_steps; not part of the state

#define ALL_OLDER(t) ((1 << buffered[t]) - 1)

#ifdef TSO
#define WAITS_RELAXED(t) buf_waits[AT_OF(t, buffered[t])] = ALL_OLDER(t)
#else
#define WAITS_RELAXED(t) \
  buf_waits[AT_OF(t, buffered[t])] = (1 << fenced[t]) - 1; \
  scan = 0; \
  do \
  :: scan < buffered[t] -> \
     if \
     :: buf_at[AT_OF(t, scan)] == buf_at[AT_OF(t, buffered[t])] -> \
        buf_waits[AT_OF(t, buffered[t])] = buf_waits[AT_OF(t, buffered[t])] | (1 << scan) \
     :: else \
     fi; \
     scan++ \
  :: else -> break \
  od
#endif

inline relaxed(t, location, value) {
  d_step {
    !frozen && buffered[t] < CAP ->
    buf_at[AT_OF(t, buffered[t])] = location;
    buf_value[AT_OF(t, buffered[t])] = value;
    WAITS_RELAXED(t);
    buffered[t]++
  }
}

inline release(t, location, value) {
  d_step {
    !frozen && buffered[t] < CAP ->
    buf_at[AT_OF(t, buffered[t])] = location;
    buf_value[AT_OF(t, buffered[t])] = value;
    buf_waits[AT_OF(t, buffered[t])] = ALL_OLDER(t);
    buffered[t]++
  }
}

inline release_fence(t) {
  d_step { !frozen -> fenced[t] = buffered[t] }
}

// The newest value that this thread can know: its own, or that of memory.
inline read_back(t, location, value) {
  d_step {
    !frozen ->
    value = mem[location];
    scan = 0;
    do
    :: scan < buffered[t] ->
       if
       :: buf_at[AT_OF(t, scan)] == (location) -> value = buf_value[AT_OF(t, scan)]
       :: else
       fi;
       scan++
    :: else -> break
    od
  }
}

// May an atomic change of thread t happen now?
#ifdef TSO
#define MAY_CHANGE(t) (!frozen && buffered[t] == 0)
#else
#define MAY_CHANGE(t) (!frozen)
#endif
#define MAY_RELEASE(t) (!frozen && buffered[t] == 0)

// Entry i of thread t reaches memory; younger entries move down by one and forget it.
inline drain_entry(t, i) {
  d_step {
    mem[buf_at[AT_OF(t, i)]] = buf_value[AT_OF(t, i)];
    if
    :: i < fenced[t] -> fenced[t]--
    :: else
    fi;
    buffered[t]--;
    scan = i;
    do
    :: scan < buffered[t] ->
       buf_at[AT_OF(t, scan)] = buf_at[AT_OF(t, scan + 1)];
       buf_value[AT_OF(t, scan)] = buf_value[AT_OF(t, scan + 1)];
       buf_waits[AT_OF(t, scan)] = (buf_waits[AT_OF(t, scan + 1)] & ((1 << i) - 1)) |
                                   ((buf_waits[AT_OF(t, scan + 1)] >> (i + 1)) << i);
       scan++
    :: else -> break
    od;
    buf_at[AT_OF(t, buffered[t])] = 0;
    buf_value[AT_OF(t, buffered[t])] = 0;
    buf_waits[AT_OF(t, buffered[t])] = 0
  }
}

#define MAY_DRAIN(t, i) (!frozen && i < buffered[t] && buf_waits[AT_OF(t, i)] == 0)

active proctype drain() {
end:
  do
  :: atomic { MAY_DRAIN(0, 0) -> drain_entry(0, 0) }
  :: atomic { MAY_DRAIN(1, 0) -> drain_entry(1, 0) }
#ifdef PSO
  :: atomic { MAY_DRAIN(0, 1) -> drain_entry(0, 1) }
  :: atomic { MAY_DRAIN(0, 2) -> drain_entry(0, 2) }
  :: atomic { MAY_DRAIN(0, 3) -> drain_entry(0, 3) }
  :: atomic { MAY_DRAIN(1, 1) -> drain_entry(1, 1) }
  :: atomic { MAY_DRAIN(1, 2) -> drain_entry(1, 2) }
  :: atomic { MAY_DRAIN(1, 3) -> drain_entry(1, 3) }
#endif
  od
}

active proctype death() {
  atomic { DEATH_MOMENT -> frozen = true }
}
