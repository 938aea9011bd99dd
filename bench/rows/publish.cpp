// SPDX-License-Identifier: Apache-2.0
//
// What counting costs the service that counts.
//
// U is one relaxed load and store of one word. Processors that forward a stored word to the next
// load by renaming make a loop over one hot word twice as fast or not from one binary to the next,
// so U is measured on one word and on 1,024 in turn, and the slower of the two counts.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "blocks.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kTurning = 1024;

// U. relaxed: one writer, and nothing is ordered by it.
void bare_increment(SharedWord& word) noexcept {
  word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Each loop is a function of its own, so that no loop is compiled together with its neighbours.
[[gnu::noinline]] void bare_hot(SharedWord& word, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) bare_increment(word);
}
[[gnu::noinline]] void bare_eight(SharedWord* words, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    for (std::size_t word = 0; word < 8; ++word) bare_increment(words[word]);
  }
}
[[gnu::noinline]] void bare_turning(SharedWord* const* words, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) bare_increment(*words[turn % kTurning]);
}
// As large as an Instance: at random, finding the handle costs as much as finding the word.
struct alignas(Instance) BareHandle {
  SharedWord* word;
};
static_assert(sizeof(BareHandle) == sizeof(Instance));
[[gnu::noinline]] void bare_ordered(const BareHandle* handles,
                                    std::span<const std::uint32_t> order) {
  for (const std::uint32_t index : order) bare_increment(*handles[index].word);
}

[[gnu::noinline]] void add_hot(Instance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) instance.add(0, 1);
}
[[gnu::noinline]] void add_hot(Counter& counter, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) counter.add(1);
}
[[gnu::noinline]] void update_eight(Instance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    instance.update([](Values& values) noexcept {
      for (std::uint32_t word = 0; word < 8; ++word) values.add(word, 1);
    });
  }
}
[[gnu::noinline]] void add_turning(Instance* instances, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) instances[turn % kTurning].add(0, 1);
}
[[gnu::noinline]] void add_ordered(Instance* instances, std::span<const std::uint32_t> order) {
  for (const std::uint32_t index : order) instances[index].add(0, 1);
}
// Goes round a long random order in short rounds: a round that is longer than a time slice would
// be interrupted each time.
class Portions {
 public:
  explicit Portions(std::size_t count) : order_(shuffled(count)) {}
  [[nodiscard]] std::size_t size() const noexcept { return std::min(kPortion, order_.size()); }
  std::span<const std::uint32_t> next() noexcept {
    if (begin_ + size() > order_.size()) begin_ = 0;
    begin_ += size();
    return std::span(order_).subspan(begin_ - size(), size());
  }

 private:
  static constexpr std::size_t kPortion = 12'500;
  std::vector<std::uint32_t> order_;
  std::size_t begin_ = 0;
};

// The same words as a block set of this form has, for the bare loops.
BlockForm form_for(const SetShape& shape) {
  return {.words = static_cast<std::uint32_t>(shape.counters),
          .lanes = shape.many ? 8U : 1U,
          .consistency = shape.consistency,
          .checkpoint = shape.checkpoint ? 1U : 0U};
}

void increments(const Effort& effort, Table& table) {
  const SetShape shape{.consistency = Consistency::kIndependent};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  std::vector<Instance> instances = workplace.fill(set, shape, kTurning);
  Counter counter = instances[0].counter(0);
  const Blocks bare(form_for(shape), kTurning);
  const std::vector<SharedWord*> words = bare.first_words();
  const std::uint64_t turns = effort.operations;

  table.ratio_row("U turning over 1,024 (limit: U hot)",
                  compare(
                      effort.rounds, turns, [&] { bare_turning(words.data(), turns); },
                      [&] { bare_hot(*words[0], turns); }),
                  {});
  const auto hot = [&] { bare_hot(*words[0], turns); };
  const auto turning = [&] { bare_turning(words.data(), turns); };
  table.ratio_row("increment, independent, instance handle, hot (limit: U)",
                  compare_to_slower(
                      effort.rounds, turns, [&] { add_hot(instances[0], turns); }, hot, turning),
                  1.1);
  table.ratio_row("increment, independent, counter handle, hot (limit: U)",
                  compare_to_slower(
                      effort.rounds, turns, [&] { add_hot(counter, turns); }, hot, turning),
                  1.1);
  table.ratio_row("increment, independent, over 1,024 instance handles",
                  compare(
                      effort.rounds, turns, [&] { add_turning(instances.data(), turns); },
                      [&] { bare_turning(words.data(), turns); }),
                  1.2);
}

void hot_commits(const Effort& effort, Table& table) {
  const SetShape shape{.many = false, .checkpoint = true};
  Workplace workplace;
  const Registration set = workplace.add(shape);
  std::vector<Instance> instances = workplace.fill(set, shape, 1);
  const Blocks bare(form_for(shape), kTurning);
  const std::vector<SharedWord*> first_words = bare.first_words();
  SharedWord* const words = first_words[0];
  const std::uint64_t turns = effort.operations;
  table.ratio_row(
      "commit 1 of 8, line with checkpoint, hot (limit: U)",
      compare_to_slower(
          effort.rounds, turns, [&] { add_hot(instances[0], turns); },
          [&] { bare_hot(*words, turns); }, [&] { bare_turning(first_words.data(), turns); }),
      2.7);
  table.ratio_row("commit 8 of 8, line with checkpoint, hot (limit: 8 U)",
                  compare(
                      effort.rounds, turns / 4, [&] { update_eight(instances[0], turns / 4); },
                      [&] { bare_eight(words, turns / 4); }),
                  1.8);
}

void many_commits(const Effort& effort, Table& table, bool tile) {
  const SetShape shape{.many = tile};
  const char* const form = tile ? "tile" : "line";
  Workplace workplace;
  const Registration set = workplace.add(shape);
  std::vector<Instance> instances = workplace.fill(set, shape, effort.many);
  const Blocks bare(form_for(shape), effort.many);
  const std::vector<SharedWord*> words = bare.first_words();
  const std::uint64_t turns = effort.operations;
  if (effort.many >= kTurning) {
    table.ratio_row(fmt::format("commit 1 of 8, {}, over 1,024 blocks in turn", form),
                    compare(
                        effort.rounds, turns, [&] { add_turning(instances.data(), turns); },
                        [&] { bare_turning(words.data(), turns); }),
                    3.5);
  }
  std::vector<BareHandle> handles;
  for (SharedWord* word : words) handles.push_back({word});
  Portions ours(effort.many), theirs(effort.many);
  table.ratio_row(
      fmt::format("commit 1 of 8, {}, {} handles at random", form, effort.many),
      compare(
          effort.rounds, ours.size(), [&] { add_ordered(instances.data(), ours.next()); },
          [&] { bare_ordered(handles.data(), theirs.next()); }),
      tile ? 2.5 : 3.3);
}

}  // namespace

void publish_rows(const Effort& effort, Table& table) {
  increments(effort, table);
  hot_commits(effort, table);
  many_commits(effort, table, true);
  many_commits(effort, table, false);
}

}  // namespace meterbank::bench
