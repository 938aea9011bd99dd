// SPDX-License-Identifier: Apache-2.0
//
// Source annotations about locks and threads. All are empty.
#pragma once

#define _Benign_race_begin_
#define _Benign_race_end_
#define _No_competing_thread_
#define _No_competing_thread_begin_
#define _No_competing_thread_end_
#define _Interlocked_
#define _Requires_no_locks_held_
#define _Acquires_lock_(lock)
#define _Acquires_exclusive_lock_(lock)
#define _Acquires_shared_lock_(lock)
#define _Acquires_nonreentrant_lock_(lock)
#define _Releases_lock_(lock)
#define _Releases_exclusive_lock_(lock)
#define _Releases_shared_lock_(lock)
#define _Releases_nonreentrant_lock_(lock)
#define _Requires_lock_held_(lock)
#define _Requires_exclusive_lock_held_(lock)
#define _Requires_shared_lock_held_(lock)
#define _Requires_lock_not_held_(lock)
#define _Create_lock_level_(lock)
#define _Has_lock_kind_(lock)
#define _Has_lock_level_(lock)
#define _Function_ignore_lock_checking_(lock)
#define _Guarded_by_(value)
#define _Write_guarded_by_(value)
#define _Analysis_suppress_lock_checking_(lock)
#define _Analysis_assume_lock_acquired_(lock)
#define _Analysis_assume_lock_released_(lock)
#define _Analysis_assume_lock_held_(lock)
#define _Analysis_assume_lock_not_held_(lock)
#define _Lock_level_order_(first, second)
#define _Internal_lock_level_order_(first, second)
#define _Post_same_lock_(first, second)
#define _Analysis_assume_same_lock_(first, second)
#define _Csalcat1_(first, second)
#define _Csalcat2_(first, second)
