// SPDX-License-Identifier: Apache-2.0
//
// The lease protocol: two clients that ask for counters, one arbiter that may die and is started
// again with its journal and a new epoch, two counters, and a reader of what a client publishes.
//
//   lease    none -> queued -> preparing -> active -> revoking -> fenced -> limbo -> none
//                      |          |            \-----------------^
//                      v          v (the kernel says no: all is undone)
//                     told       told
//
//   arbiter  grants:  books, opens all, journal, word ACTIVE, tells
//            fences:  word FENCED [L1], journal, closes; limbo until no client has it open any more
//            starts:  what the journal holds may be reclaimed until grace ends, then it is limbo;
//                     what had ended and was not free yet is limbo at once
//   client   asks for a counter, for both, or for one that it shares; publishes what it counts;
//            gives back, or drains when told to. It may be slow, die, or hang for ever
//   reader   copies token and value; then loads the lease word of that token's ledger; then looks
//            whether the arbiter of this ledger lives
//
// The kernel here refuses nothing because of others, as with counters that are held in the books
// alone: the books must be right by themselves. -DKERNEL_REFUSES has one that does. What a client
// has open keeps its counter taken until the client closes it or dies. Memory is read and written
// in order: words and rows have models of their own (slot.pml, settled.pml).
//
// Promised, wherever a process dies:
//   one_holder           I1  one client has a counter open, or clients that share it
//   own_generation       I2  a value that the reader accepts was counted for the lease whose token
//                            it has, and that lease had not ended when its word was loaded
//   nothing_in_limbo     I3  at rest, but for what a hung process has open
//   all_or_nothing       I4  who asks for two counters has both or none
//   served_or_told       I5  at rest no client waits, except for what a hung process has open
//   states_add_up        I6  each counter is in one state } whenever the arbiter waits for work
//   journal_is_ledger    I7  replayed it gives the leases }
//   held_is_reclaimable      in grace who was in force gets its counters back

#ifndef REQUESTS_0
#define REQUESTS_0 1  // of client 0
#endif
#ifndef TROUBLES
#define TROUBLES 2  // of five: so many happen in one life at most
#endif
#ifndef REQUESTS_1
#define REQUESTS_1 1
#endif

// Leases. The last one was held by an arbiter before, and is not reclaimed yet.
#define NONE 0
#define QUEUED 1
#define PREPARING 2
#define ACTIVE 3
#define REVOKING 4
#define FENCED 5
#define LIMBO 6
#define REMEMBERED 7
#define IN_FORCE(s) ((s) == ACTIVE || (s) == REVOKING)

// Clients.
#define IDLE 0
#define ASKED 1
#define HOLDS 2
#define CLOSING 3
#define RECLAIMS 4
#define GONE 5
#define HUNG 6

// What is wanted: one counter, one that may be shared, two.
#define ONE 1
#define SHARED 2
#define TWO 3

// Packets. Free is what is said when a holder has drained, too: the books see no difference.
#define ALLOCATE 1
#define FREE 2
#define RECLAIM 3
#define GRANTED 1
#define REFUSED 2

// ---- The arbiter's own, gone when it dies. By number of the lease ----
byte lease[2], owner[2], want[2], has[2], generation[2];
byte head = 2;             // who waits longest; 2: no client
byte unused = 3;           // set of counters that are free
bool grace, busy;
// Known to the checks only: which grant it was, and on whose kernel event it counts.
byte grant[2], carrier[2];
byte grants = 1;

// ---- What outlives it ----
byte epoch = 1;
bool is_up = true, died;   // died: kOwnerDied in the first ledger
byte journal[2], journal_owner[2], journal_has[2], journal_want[2];  // replayed
byte word[4], word_generation[4];                                     // ledgers of two words

// ---- The kernel, by counter ----
byte counts_for[2];          // a grant; 0: no client, or a process without a lease
byte users[2], sharers[2];   // sets of clients that have it open, alone and shared
bool kernel_says_no;         // once, for reasons of its own

// ---- Clients, and the packets between them and the arbiter ----
byte state[2], asks_for[2], link[2] = 1, message[2], answer[2];
bool hung_up[2], notice[2];  // notice: its lease is lost
byte token_epoch[2], token_lease[2], token_generation[2];
byte my_carrier[2], my_grant[2], my_counter[2];

// ---- Decided before it begins ----
bool has_begun;
bool dies;
byte who_fails = 2;      // a client; 2: neither
bool waits_end;          // at any moment, for all clients
bool may_revoke;         // once, without a reason

// What client 0 publishes, once, at any moment; it is read once, at any moment. More of either,
// and of both clients, would find the same: nothing comes back from there.
byte p_epoch, p_lease, p_generation, p_value, p_carrier, p_grant;

hidden byte one_holder, own_generation, nothing_in_limbo, all_or_nothing, served_or_told,
    states_add_up, journal_is_ledger, held_is_reclaimable;
// False claims: refuting them shows that the model reaches what it talks about.
hidden byte never_reclaimed, never_shared, never_accepted_after_restart, never_served_from_queue;

#define WORD(l) ((epoch - 1) * 2 + (l))
#define COUNT(set) (((set) & 1) + ((set) >> 1))
#define USED(c) (users[c] | sharers[c])
#define ON_SAME_COUNTER(l) \
  (want[l] == SHARED && want[1 - (l)] == SHARED && has[l] != 0 && has[l] == has[1 - (l)])
#define HEARS(i) (link[i] == epoch && !hung_up[i])

inline set_state(l, s) {
  lease[l] = s;
  word[WORD(l)] = s
}

inline forget(l) {
  owner[l] = 0; want[l] = 0; has[l] = 0; grant[l] = 0; carrier[l] = 0
}

inline journal_end(l) {
  journal[l] = NONE; journal_owner[l] = 0; journal_has[l] = 0; journal_want[l] = 0
}

inline tell(i, what) {
  if
  :: HEARS(i) -> answer[i] = what
  :: else
  fi
}

inline warn(i) {
  if
  :: HEARS(i) -> notice[i] = true
  :: else
  fi
}

inline stop_counting(l) {
  if
  :: has[l] & 1 -> counts_for[0] = 0
  :: else
  fi;
  if
  :: has[l] & 2 -> counts_for[1] = 0
  :: else
  fi
}

// ---- Grants ----

#ifdef HALF_WILL_DO
#define PICK_TWO unused
#else
#define PICK_TWO (unused == 3 -> 3 : 0)
#endif
#define LOWEST_OF(set) ((set) & 1 -> 1 : (set))
#define MAY_JOIN(l) (want[l] == SHARED && want[1 - (l)] == SHARED && lease[1 - (l)] == ACTIVE)
#define PICK(l) (want[l] == TWO -> PICK_TWO : (MAY_JOIN(l) -> has[1 - (l)] : LOWEST_OF(unused)))

inline open_one(l, c) {
  if
  :: ok && (has[l] & (1 << (c))) ->
     if
     :: kernel_says_no -> kernel_says_no = false; ok = false
     :: true ->
#ifdef KERNEL_REFUSES
        ok = ((USED(c) & ~(1 << owner[l])) == 0);
#endif
        if
        :: ok -> counts_for[c] = grant[l]
        :: else
        fi
     fi
  :: else
  fi
}

inline put_in_limbo(l) {
  if
  :: ON_SAME_COUNTER(l) ->  // which goes on for the other one
     journal_end(l);
     set_state(l, NONE);
     forget(l)
  :: else ->
#ifndef END_NOT_JOURNALED
     journal[l] = FENCED;
#endif
#ifndef WORD_STAYS
     word[WORD(l)] = LIMBO;
#endif
     lease[l] = LIMBO
  fi
}

inline undo(l) {
  stop_counting(l);
  tell(owner[l], REFUSED);
  if
  // Its holder has them open still.
  :: is_reclaim -> put_in_limbo(l)
  :: else ->
#ifdef UNDOES_ONE_ONLY
     unused = unused | LOWEST_OF(has[l]);
#else
     unused = unused | has[l];
#endif
     journal_end(l);
     set_state(l, NONE);
     forget(l)
  fi
}
// All of it, or none of it.
inline open_all(l) {
#ifdef VALUES
  grants++;
#endif
  grant[l] = grants;
  ok = true;
  if
#ifdef RECLAIM_OPENS_ANEW
  :: MAY_JOIN(l) && ON_SAME_COUNTER(l) -> carrier[l] = carrier[1 - l]
#else
  // One that is being revoked is joined by a reclaim only: no other client was booked on it.
  :: ON_SAME_COUNTER(l) && IN_FORCE(lease[1 - l]) -> carrier[l] = carrier[1 - l]
#endif
  :: else -> carrier[l] = grants; open_one(l, 0); open_one(l, 1)
  fi;
#ifdef KEEPS_HALF
  if
  :: !ok && has[l] == 3 && counts_for[0] == grant[l] ->
     has[l] = 1; unused = unused | 2; ok = true
  :: else
  fi;
#endif
  if
  :: !ok -> undo(l)
  :: else -> busy = true
  fi;
  ok = false
}

inline write_journal(l) {
  journal[l] = ACTIVE; journal_owner[l] = owner[l];
  journal_has[l] = has[l]; journal_want[l] = want[l]
}

inline hand_over(l) {
  i = owner[l];
  notice[i] = false;
  if
  :: HEARS(i) ->
     answer[i] = GRANTED;
     token_epoch[i] = epoch; token_lease[i] = l; token_generation[i] = generation[l];
     my_carrier[i] = carrier[l]; my_grant[i] = grant[l];
     my_counter[i] = (has[l] & 1 -> 0 : 1);
     if
     :: want[l] == SHARED -> sharers[my_counter[i]] = sharers[my_counter[i]] | (1 << i)
     :: else ->
        users[0] = (has[l] & 1 -> users[0] | (1 << i) : users[0]);
        users[1] = (has[l] & 2 -> users[1] | (1 << i) : users[1])
     fi
  :: else
  fi;
  i = 0
}

inline set_in_force(l) {
  d_step { set_state(l, ACTIVE); word_generation[WORD(l)] = generation[l] }
}

// Of a booked lease whose counters are open.
inline grant_it(l) {
#ifdef TELLS_BEFORE_JOURNAL
  set_in_force(l);
  d_step { hand_over(l) };
  d_step { write_journal(l); l = 0; busy = false }
#else
#ifndef GRANT_NOT_JOURNALED
  d_step { write_journal(l) };
#endif
  set_in_force(l);
  d_step { hand_over(l); l = 0; busy = false }
#endif
}

// ---- Ends ----

inline close_all(l) {
  if
  :: ON_SAME_COUNTER(l)
  :: else -> stop_counting(l)
  fi
}

inline fence(l) {
#ifdef CLOSES_BEFORE_FENCE
  d_step { close_all(l) };
#endif
#ifdef JOURNAL_BEFORE_FENCE
  journal[l] = FENCED;
#endif
#ifdef WORD_STAYS
  lease[l] = FENCED;
#else
  d_step { set_state(l, FENCED) };
#endif
#ifndef END_NOT_JOURNALED
  journal[l] = FENCED;
#endif
#ifdef VALUES
  d_step { close_all(l) };
#endif
  d_step {
    close_all(l);
#ifdef NO_LIMBO
    unused = unused | has[l];
    journal_end(l);
    set_state(l, NONE);
    forget(l);
#else
    put_in_limbo(l);
#endif
    l = 0; busy = false
  }
}

#define HAS_LET_GO(l) ((!(has[l] & 1) || USED(0) == 0) && (!(has[l] & 2) || USED(1) == 0))

inline end_limbo(l) {
  d_step {
    unused = unused | has[l];
    journal_end(l);
    set_state(l, NONE);
    forget(l)
  }
}

// ---- The queue ----

inline leave_queue(l) {
  head = (lease[1 - (l)] == QUEUED -> 1 - (l) : 2)
}

inline enqueue(i) {
  d_step {
    l = (lease[0] == NONE -> 0 : (lease[1] == NONE -> 1 : 2));
    if
    :: l == 2 -> tell(i, REFUSED)
    :: else ->
       set_state(l, QUEUED);
       owner[l] = i; want[l] = asks_for[i];
#ifdef GENERATION_STAYS
       generation[l] = 1;
#else
       generation[l]++;
#endif
       head = (head == 2 -> l : head)
    fi;
#ifdef SERVED_ON_ARRIVAL_ONLY
    asleep = (head != l || PICK(head) == 0);
#endif
    message[i] = 0; l = 0
  }
}
#ifdef SERVED_ON_ARRIVAL_ONLY
bool asleep;
#define MAY_SERVE (!grace && !asleep)
#else
#define MAY_SERVE (!grace)
#endif

inline time_out(l) {
  d_step {
    leave_queue(l);
#ifndef TIME_OUT_SAYS_NOTHING
    tell(owner[l], REFUSED);
#endif
    set_state(l, NONE);
    forget(l)
  }
}

// ---- Messages ----

// The lease that client i may end; 2: none.
#define HELD_BY(l, i) (lease[l] >= QUEUED && lease[l] < FENCED && owner[l] == i)
#define LEASE_OF(i) (HELD_BY(0, i) -> 0 : (HELD_BY(1, i) -> 1 : 2))
#define MAY_RECLAIM(l, i) (lease[l] == REMEMBERED && owner[l] == i)

// Each leaves `busy` if there is something to end, or to grant.
inline take_free(i) {
  message[i] = 0;
  l = LEASE_OF(i);
  if
  :: l < 2 && IN_FORCE(lease[l]) -> busy = true
  :: else -> l = 0
  fi;
  i = 0
}

inline take_reclaim(i) {
  message[i] = 0;
  l = (MAY_RECLAIM(0, i) -> 0 : (MAY_RECLAIM(1, i) -> 1 : 2));
  if
  :: l == 2 ->
     held_is_reclaimable = !(grace && IN_FORCE(word[token_lease[i]]) &&
                             word_generation[token_lease[i]] == token_generation[i]);
     assert(held_is_reclaimable);
     tell(i, REFUSED);
     l = 0
  :: else ->
#ifdef CLAIM_NEVER_RECLAIMED
     never_reclaimed = 0;
     assert(never_reclaimed);
#endif
     generation[l]++;
     set_state(l, PREPARING);
#ifndef REFUSED_RECLAIM_IS_FREE
     is_reclaim = true;
#endif
     open_all(l);
     is_reclaim = false
  fi;
  i = 0
}

// A client that held or waited has gone.
inline drop(i) {
  hung_up[i] = false; link[i] = 0;
  l = LEASE_OF(i);
  if
  :: l == 2 -> l = 0
  :: l < 2 && lease[l] == QUEUED -> leave_queue(l); set_state(l, NONE); forget(l); l = 0
  :: else -> busy = true
  fi;
  i = 0
}

inline revoke(l) {
  set_state(l, REVOKING)
}

// ---- After a death ----

inline replay() {
  d_step {
    epoch = 2;
    unused = 3; head = 2; busy = false; i = 0; is_reclaim = false; ok = false;
    l = 0;
    do
    :: l < 2 ->
       forget(l);
       generation[l] = 0;
       word[l] = (IN_FORCE(word[l]) -> ACTIVE : NONE);  // no reader tells these apart
       lease[l] = (journal[l] == ACTIVE -> REMEMBERED : (journal[l] == FENCED -> LIMBO : NONE));
#ifdef FORGETS_LIMBO
       lease[l] = (lease[l] == LIMBO -> NONE : lease[l]);
#endif
#ifdef FORGETS_WHAT_WAS_HELD
       lease[l] = (lease[l] == REMEMBERED -> NONE : lease[l]);
#endif
       if
       :: lease[l] == NONE -> journal_end(l)
       :: else ->
          owner[l] = journal_owner[l]; has[l] = journal_has[l]; want[l] = journal_want[l];
          unused = unused & ~has[l]
       fi;
       l++
    :: else -> break
    od;
    // One of those that shared had ended, and its counter had not.
    l = (lease[0] == LIMBO -> 0 : 1);
    if
    :: lease[l] == LIMBO && ON_SAME_COUNTER(l) -> journal_end(l); lease[l] = NONE; forget(l)
    :: else
    fi;
    l = 0;
    grace = true;
    is_up = true
  }
}

// What was not reclaimed may be in use all the same.
inline end_grace() {
  d_step {
    grace = false;
    do
    :: l < 2 ->
       if
       :: lease[l] == REMEMBERED && ON_SAME_COUNTER(l) ->
          journal_end(l); lease[l] = NONE; forget(l)
       :: lease[l] == REMEMBERED && !ON_SAME_COUNTER(l) ->
          journal[l] = FENCED; set_state(l, LIMBO)
       :: else
       fi;
       l++
    :: else -> break
    od;
    l = 0
  }
}

#define SAYS(i, what) (link[i] == epoch && message[i] == (what))
#define HAS_HUNG_UP(i) (link[i] == epoch && message[i] == 0 && hung_up[i])
// No heartbeat.
#define TERM_ENDED(l) (lease[l] == ACTIVE && state[owner[l]] == HUNG)

active proctype arbiter() {
  byte l, i;
  bool ok, is_reclaim;
end_alive:
  {
end_of_work:
    do
    :: atomic { SAYS(0, ALLOCATE) -> enqueue(0) }
    :: atomic { SAYS(1, ALLOCATE) -> enqueue(1) }
    :: atomic {
         if
         :: SAYS(0, FREE) -> i = 0; take_free(i)
         :: SAYS(1, FREE) -> i = 1; take_free(i)
#ifndef THE_DEAD_FORGOTTEN
         :: HAS_HUNG_UP(0) -> i = 0; drop(i)
         :: HAS_HUNG_UP(1) -> i = 1; drop(i)
#endif
#ifndef NO_DEADLINE
         :: lease[0] == REVOKING -> l = 0; busy = true; warn(owner[l])
         :: lease[1] == REVOKING -> l = 1; busy = true; warn(owner[l])
#endif
         fi;
         if
         :: busy
         :: else -> goto end_of_work
         fi
       };
       fence(l)
    :: atomic {
         if
         :: SAYS(0, RECLAIM) -> i = 0; take_reclaim(i)
         :: SAYS(1, RECLAIM) -> i = 1; take_reclaim(i)
         :: head < 2 && MAY_SERVE && PICK(head) != 0 ->
            l = head;
#ifdef CLAIM_NEVER_SERVED_FROM_QUEUE
            never_served_from_queue = !(lease[1 - l] == QUEUED && epoch == 2);
            assert(never_served_from_queue);
#endif
            has[l] = PICK(l);
            unused = unused & ~has[l];
            leave_queue(l);
            set_state(l, PREPARING);
            open_all(l)
         fi;
         if
         :: busy
         :: else -> l = 0; goto end_of_work
         fi
       };
       grant_it(l)
    :: atomic { lease[0] == QUEUED && waits_end -> time_out(0) }
    :: atomic { lease[1] == QUEUED && waits_end -> time_out(1) }
    :: atomic { TERM_ENDED(0) -> revoke(0) }
    :: atomic { TERM_ENDED(1) -> revoke(1) }
    :: atomic { may_revoke && lease[0] == ACTIVE -> may_revoke = false; revoke(0) }
    :: atomic { may_revoke && lease[1] == ACTIVE -> may_revoke = false; revoke(1) }
#ifndef LIMBO_NEVER_LOOKED_AT
    :: atomic { lease[0] == LIMBO && HAS_LET_GO(0) -> end_limbo(0) }
    :: atomic { lease[1] == LIMBO && HAS_LET_GO(1) -> end_limbo(1) }
#endif
    :: atomic { grace -> end_grace() }
    od
  } unless {
    atomic { died && epoch == 1 -> replay() };
    goto end_alive
  }
}

// What happens is decided before; when, is not.
active proctype fate() {
  byte troubles;
  atomic {
    do
    :: troubles < TROUBLES ->
       troubles++;
       if
       :: dies = true
       :: who_fails == 2 -> select(who_fails : 0 .. 1)
       :: waits_end = true
       :: may_revoke = true
       :: kernel_says_no = true
       fi
    :: break
    od;
    troubles = 0;
#ifdef ALWAYS
    ALWAYS = true;
#endif
#ifdef ALWAYS_TOO
    ALWAYS_TOO = true;
#endif
    has_begun = true
  };
  if
  :: atomic {
       dies ->
       is_up = false; died = true;
       message[0] = 0; message[1] = 0; hung_up[0] = false; hung_up[1] = false;
       // What was open in the arbiter alone is closed by the kernel.
       counts_for[0] = (USED(0) == 0 -> 0 : counts_for[0]);
       counts_for[1] = (USED(1) == 0 -> 0 : counts_for[1])
     }
  :: !dies
  fi
}

// ---- Clients ----

#define LINKED(i) (is_up && link[i] == epoch)

inline close_mine(i) {
  users[0] = users[0] & ~(1 << i); users[1] = users[1] & ~(1 << i);
  sharers[0] = sharers[0] & ~(1 << i); sharers[1] = sharers[1] & ~(1 << i);
  token_epoch[i] = 0; token_lease[i] = 0; token_generation[i] = 0;
  my_carrier[i] = 0; my_grant[i] = 0; my_counter[i] = 0
}

inline connect_again(i) {
  atomic {
    is_up && link[i] != epoch && state[i] <= HOLDS ->
    link[i] = epoch; message[i] = 0; answer[i] = 0; notice[i] = false;
    if
    :: state[i] == ASKED -> close_mine(i); message[i] = ALLOCATE
    :: state[i] == HOLDS ->
#ifdef WITHOUT_RECLAIM
       state[i] = CLOSING
#else
       state[i] = RECLAIMS; message[i] = RECLAIM
#endif
    :: else
    fi
  }
}

inline live(i, left) {
end_of_client:
  do
  :: atomic {
       state[i] == IDLE && left > 0 && LINKED(i) && message[i] == 0 ->
       left--;
       if
#ifndef ONLY_SHARED
       :: asks_for[i] = ONE
       :: asks_for[i] = TWO
#endif
       :: asks_for[i] = SHARED
       fi;
       message[i] = ALLOCATE; state[i] = ASKED
     }
  :: connect_again(i)
  :: atomic {
       (state[i] == ASKED || state[i] == RECLAIMS) && answer[i] != 0 ->
       state[i] = (answer[i] == GRANTED -> HOLDS : (state[i] == ASKED -> IDLE : CLOSING));
       answer[i] = 0; asks_for[i] = 0
     }
#ifdef VALUES
  // Between its two steps it may be stopped for any time.
  :: atomic {
       state[i] == HOLDS && i == 0 && !has_read ->
       has_read = true; value = counts_for[my_counter[i]]
     };
     atomic {
       p_epoch = token_epoch[i]; p_lease = token_lease[i]; p_generation = token_generation[i];
       p_value = value; p_carrier = my_carrier[i]; p_grant = my_grant[i];
       value = 0
     }
#endif
  :: atomic {
       state[i] == HOLDS && LINKED(i) && message[i] == 0 ->
       message[i] = FREE; notice[i] = false; state[i] = CLOSING
     }
  :: atomic {
       state[i] == HOLDS && (notice[i] || !LINKED(i)) -> notice[i] = false; state[i] = CLOSING
     }
  :: atomic { state[i] == CLOSING -> close_mine(i); state[i] = IDLE }
  :: atomic { state[i] == IDLE && left == 0 -> state[i] = GONE; break }
  :: atomic {
       who_fails == i ->
       if
       :: state[i] = GONE; hung_up[i] = true; close_mine(i)
       :: state[i] = HUNG
       fi;
       break
     }
  od
}

active proctype client_0() {
  byte left = REQUESTS_0, value;
  bool has_read;
  has_begun;
  live(0, left)
}

active proctype client_1() {
  byte left = REQUESTS_1, value;
  bool has_read;
  has_begun;
  live(1, left)
}

// ---- The reader ----

#ifdef VALUES

#define HAD_NOT_ENDED(g) \
  ((grant[0] == g && IN_FORCE(lease[0])) || (grant[1] == g && IN_FORCE(lease[1])))
#ifdef ANY_EPOCH
#define LEDGER epoch
#else
#define LEDGER p_epoch
#endif
#define SAYS_IN_FORCE(l, g) \
  (IN_FORCE(word[(LEDGER - 1) * 2 + l]) && word_generation[(LEDGER - 1) * 2 + l] == g)
#define HAS_DIED (LEDGER == 1 && died)

inline load_word() {
  atomic {
    accepted = SAYS_IN_FORCE(p_lease, p_generation);
    had_not_ended = HAD_NOT_ENDED(p_grant)
  }
}

active proctype reader() {
  bool accepted, had_not_ended, lives;
#ifdef WORD_FIRST
  byte words[2], generations[2];
#endif
end_of_reader:
#ifdef DEATH_FIRST
  lives = !died;
end_of_looking:
#endif
#ifdef WORD_FIRST
  atomic {
    epoch == 1 ->
    words[0] = word[0]; generations[0] = word_generation[0];
    words[1] = word[1]; generations[1] = word_generation[1]
  };
end_of_waiting:
  atomic {
    p_epoch == 1 ->
    accepted = (IN_FORCE(words[p_lease]) && generations[p_lease] == p_generation);
    had_not_ended = true
  };
#else
  atomic { p_epoch != 0 -> load_word() };
#endif
  atomic {
#ifndef DEATH_FIRST
    lives = !HAS_DIED;
#endif
#ifdef DEATH_IGNORED
    lives = true;
#endif
    if
    :: accepted && lives ->
       own_generation = (p_value == p_carrier && had_not_ended);
       assert(own_generation);
#ifdef CLAIM_NEVER_ACCEPTED_AFTER_RESTART
       never_accepted_after_restart = (p_epoch == 1);
       assert(never_accepted_after_restart)
#endif
    :: else
    fi;
    accepted = false; had_not_ended = false; lives = false
  }
}

#endif

// ---- What is looked at, at any moment ----

#define ALONE(c) \
  ((users[c] == 0 || users[c] == 1 || users[c] == 2) && (users[c] == 0 || sharers[c] == 0))
#define HALF(l) (IN_FORCE(lease[l]) && want[l] == TWO && has[l] != 3)

#define IS_LEASED(l) \
  (lease[l] == REMEMBERED || lease[l] == PREPARING || IN_FORCE(lease[l]) || lease[l] == FENCED)
#define LEASED_TWICE (ON_SAME_COUNTER(0) && IS_LEASED(0) && IS_LEASED(1) -> 1 : 0)
#define LEASED \
  (COUNT(IS_LEASED(0) -> has[0] : 0) + COUNT(IS_LEASED(1) -> has[1] : 0) - LEASED_TWICE)
#define IN_LIMBO (COUNT(lease[0] == LIMBO -> has[0] : 0) + COUNT(lease[1] == LIMBO -> has[1] : 0))
#define SUM (COUNT(unused) + LEASED + IN_LIMBO)

#define JOURNAL_SAYS(l) \
  ((IN_FORCE(lease[l]) || lease[l] == REMEMBERED) -> \
       (journal[l] == ACTIVE && journal_has[l] == has[l] && journal_owner[l] == owner[l]) : \
       (lease[l] == LIMBO -> (journal[l] == FENCED && journal_has[l] == has[l]) : \
                             journal[l] == NONE))

active proctype look() {
end_of_look:
  if
  :: atomic { !(ALONE(0) && ALONE(1)) -> one_holder = 0; assert(one_holder) }
  :: atomic { HALF(0) || HALF(1) -> all_or_nothing = 0; assert(all_or_nothing) }
  :: atomic { is_up && !busy && SUM != 2 -> states_add_up = 0; assert(states_add_up) }
  :: atomic {
       is_up && !busy && !(JOURNAL_SAYS(0) && JOURNAL_SAYS(1)) ->
       journal_is_ledger = 0;
       assert(journal_is_ledger)
     }
#ifdef CLAIM_NEVER_SHARED
  :: atomic { sharers[0] == 3 && state[0] == HOLDS -> never_shared = 0; assert(never_shared) }
#endif
  fi
}

// ---- At rest: no process can take a step ----

#define HAS_OPEN(i, l) \
  (state[i] == HUNG && (((has[l] & 1) && (USED(0) & (1 << i))) || \
                        ((has[l] & 2) && (USED(1) & (1 << i)))))
#define STUCK(l) (lease[l] == LIMBO && (HAS_OPEN(0, l) || HAS_OPEN(1, l)))
#define WAITS(i) (state[i] == ASKED || state[i] == RECLAIMS)

active proctype rest() {
  timeout ->
  atomic {
    nothing_in_limbo = (lease[0] != LIMBO || STUCK(0)) && (lease[1] != LIMBO || STUCK(1));
    assert(nothing_in_limbo);
    served_or_told = (!WAITS(0) && !WAITS(1)) || STUCK(0) || STUCK(1);
    assert(served_or_told)
  }
}
