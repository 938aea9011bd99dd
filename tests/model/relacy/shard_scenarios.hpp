// SPDX-License-Identifier: Apache-2.0
//
// Sharded instances: block.hpp and index_set.hpp themselves.
#pragma once

#include "scenarios.hpp"
#include "shards/index_set.hpp"

namespace meterbank {

// Two writers take a number each, count in its block and give it back, in any order: often the
// second one goes on where the first one stopped. Block k holds how often it was counted, and ten
// times that.
struct HandOver : rl::test_suite<HandOver, 3> {
  static constexpr std::uint32_t kRounds = 2;
  IndexSet<A, 1> numbers;
  BlockMemory<kWords> blocks[2];

  void before() {
    for (auto& block : blocks) block.start();
    numbers.keep_only(numbers.kNone);
  }
  void thread(unsigned index) { index == 2 ? read() : write(); }
  void write() {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const PerhapsInOneGo part;
      const std::uint32_t number = numbers.take();
      RL_ASSERT(number < 2);
      BlockWriter<A>::Update update{BlockWriter<A>(blocks[number].owned())};
      update.set(0, update.value(0) + 1);
      update.set(1, update.value(0) * 10);
      update.commit();
      ModelWord& counter = blocks[number].counter;  // as of an independent set
      A::store_relaxed(counter, A::load_relaxed(counter) + 1);
      numbers.give_back(number);
    }
  }
  void read() {
    std::uint64_t newest = 0;
    for (int look = 0; look < 2; ++look) {
      std::uint64_t sum = 0;
      for (const auto& block : blocks) {
        std::uint64_t words[kWords] = {};
        std::uint64_t version = 0;
        if (!try_read<A>(block.seen(), words, version)) {
          ++reached.refused;
          return;
        }
        ++reached.accepted;
        RL_ASSERT(words[0] == version && words[1] == 10 * version);
        sum += words[0];
      }
      RL_ASSERT(sum >= newest && sum <= 2 * kRounds);
      newest = sum;
    }
  }
  // Nothing was lost and nothing counted twice.
  void after() {
    std::uint64_t sum = 0;
    std::uint64_t counted = 0;
    for (auto& block : blocks) {
      sum += A::load_relaxed(block.copies[0][0]);
      counted += A::load_relaxed(block.counter);
    }
    RL_ASSERT(sum == 2 * kRounds && counted == 2 * kRounds);
  }
};

// A slot with a second block is closed and reused. In the first life the second block was opened
// and counted to 7 and 70; in the next it gets its first values, is opened by who counts in it, and
// counts to 9 and 90.
struct ShardOfALife : rl::test_suite<ShardOfALife, 2> {
  BlockMemory<kWords> first;   // its slot word is the slot's
  BlockMemory<kWords> second;  // its counter and descriptor stand for independent words

  void count(std::uint64_t value) {
    BlockWriter<A>::Update update{BlockWriter<A>(second.owned())};
    update.set(0, value);
    update.set(1, 10 * value);
    update.commit();
    A::store_relaxed(second.counter, value);
    A::store_relaxed(second.descriptor, value);
  }
  void before() {
    first.start();
    second.start();
    const std::uint64_t life = slot_begin<A>(first.membership, first.slot);
    slot_live<A>(first.slot, life);
    slot_live<A>(second.slot, life);
    count(7);
  }
  void thread(unsigned index) { index == 0 ? write() : read(); }
  void write_first_values() {
    A::store_relaxed(second.counter, 0);
    BlockWriter<A>(second.owned()).commit_first([](std::uint32_t) { return std::uint64_t{0}; });
    A::store_relaxed(second.descriptor, 0);
  }
  void write() {
    slot_close<A>(first.membership, first.slot);
    const std::uint64_t life = slot_begin<A>(first.membership, first.slot);
    {
      const PerhapsInOneGo part;
      if (dropped != Fault::kFirstValuesAfterLive) write_first_values();
      slot_live<A>(first.slot, life);
      if (dropped == Fault::kFirstValuesAfterLive) {
        slot_live<A>(second.slot, life);
        write_first_values();
      }
    }
    const PerhapsInOneGo part;
    slot_live<A>(second.slot, life);  // the first count opens it
    count(9);
  }
  void read() {
    const SlotWord found = slot_of<A>(first.slot);
    if (!found.readable()) return;
    const SlotWord shard = slot_of<A>(second.slot);
    std::uint64_t words[kWords] = {};
    std::uint64_t version = 0;
    std::uint64_t counter = 0;
    std::uint64_t other = 0;
    if (shard.generation == found.generation && shard.state == SlotState::kLive) {
      other = A::load_relaxed(second.descriptor);
      if (!try_read<A>(second.seen(), words, version)) return;
      counter = A::load_relaxed(second.counter);
    }
    if (!still_in<A>(first.slot, found.generation)) {
      ++reached.refused;
      return;
    }
    ++reached.accepted;
    RL_ASSERT(words[1] == 10 * words[0]);
    RL_ASSERT(found.generation != 1 || (words[0] == 7 && counter == 7 && other == 7));
    RL_ASSERT(found.generation != 2 || words[0] == 0 || words[0] == 9);
    RL_ASSERT(found.generation != 2 || counter == 0 || counter == 9);
    RL_ASSERT(found.generation != 2 || other == 0 || other == 9);
  }
};

}  // namespace meterbank
