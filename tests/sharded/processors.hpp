// SPDX-License-Identifier: Apache-2.0
//
// Of tests of blocks that belong to processors.
#pragma once

#include <sched.h>

#include "sharded_fixture.hpp"

namespace meterbank::test {

// What the instance was made with.
inline const detail::Shards& shards_of(const ShardedInstance& instance) {
  struct Open : ShardedInstance {
    static auto member() { return &Open::shards_; }
  };
  return instance.*Open::member();
}
inline bool goes_by_processor(const ShardedInstance& instance) {
  return shards_of(instance).rseq != 0;
}

// One transaction: a reader of a block set that sees some of it sees all.
inline void transact(ShardedInstance& queue) {
  queue.update([](ShardValues& values) noexcept {
    values.add(Job::kDone, 1);
    values.add(Job::kTwice, 2);
  });
}

// Moves from one of the processors that the thread may use to the next.
class Hopper {
 public:
  Hopper() { ::sched_getaffinity(0, sizeof all_, &all_); }
  void hop() {
    do {
      at_ = (at_ + 1) % CPU_SETSIZE;
    } while (!CPU_ISSET(at_, &all_));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(at_, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ~Hopper() { ::sched_setaffinity(0, sizeof all_, &all_); }
  Hopper(const Hopper&) = delete;
  Hopper& operator=(const Hopper&) = delete;

 private:
  cpu_set_t all_;
  std::size_t at_ = 0;
};

class ProcessorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_sequences()) GTEST_SKIP();
  }
};

}  // namespace meterbank::test
