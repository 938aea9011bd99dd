// SPDX-License-Identifier: Apache-2.0
//
// A signal handler that counts, at every instruction of a count that it interrupts.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <thread>

#include "../support/cooked_values.hpp"
#include "../support/depth.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "crash_sweep/stepped_child.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "numbered_set.hpp"

namespace meterbank::interrupted_count_test {
namespace {

using test::SteppedChild;

enum class Job : std::uint32_t { kDone, kTwice, kTook };

constexpr std::array kPlain{
    CounterSpec{.id = 1, .name = "Done/sec", .symbol = "done"},
    CounterSpec{.id = 2, .name = "Twice/sec", .symbol = "twice"},
};
constexpr std::array kWithDistribution{
    kPlain[0],
    kPlain[1],
    CounterSpec{.id = 3,
                .name = "Took",
                .symbol = "took",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 0, .least = 1, .most = 8}},
};

// A word that a child and its parent share.
class SharedFlag {
 public:
  SharedFlag()
      : flag_(new (::mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<bool>(false)) {}
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;
  ~SharedFlag() { ::munmap(flag_, sizeof(*flag_)); }
  std::atomic<bool>& operator*() const noexcept { return *flag_; }

 private:
  std::atomic<bool>* flag_;
};

using Count = void (*)(ShardedInstance&);

// What the handler counts in; it counts as the interrupted thread does.
ShardedInstance* interrupted = nullptr;
Count count_again = nullptr;

// Counts twice, the first time without a number as yet. At its end it looks at the sum and at which
// numbers are free, and exits with what is wrong.
class CountAct final : public test::Act {
 public:
  CountAct(Consistency consistency, Count count, bool has_distribution)
      : consistency_(consistency), count_(count), has_distribution_(has_distribution) {}

  void prepare() override {
    // What is asked for here is which numbers threads have.
    ::setenv("METERBANK_RSEQ", "0", 1);
    provider_.emplace(*Provider::create({.name = "swept",
                                         .directory = directory_.path(),
                                         .heartbeat = std::chrono::milliseconds(0)}));
    CountersetSpec spec{.name = "Jobs", .symbol = "jobs", .shards = 4, .sharded = true};
    spec.consistency = consistency_;
    spec.counters = kPlain;
    if (has_distribution_) spec.counters = kWithDistribution;
    instance_ = *provider_->add(spec)->create_sharded_instance("it");
    // So that no place is in the linker, which binds functions when they are called first.
    std::thread([this] { count_(instance_); }).join();
    interrupted = &instance_;
    count_again = count_;
    ::signal(SIGUSR1, [](int) {
      count_again(*interrupted);
      was_handled_.store(true, std::memory_order_seq_cst);
    });
  }
  void perform() override {
    count_(instance_);
    count_(instance_);
    (*is_counted).store(true, std::memory_order_seq_cst);
    if (const int fault = look_for_faults(); fault != 0) ::_exit(fault);
  }
  SharedFlag is_counted;

 private:
  int look_for_faults() {
    if (!was_handled_.load(std::memory_order_seq_cst)) return 9;
    std::uint32_t next = 0;
    std::thread([&] {
      count_(instance_);
      next = detail::thread_number.usable;
    }).join();
    // A number without an owner is never used again.
    if (detail::thread_number.usable != 0) return 2;
    if (next != 1) return 3;
    const Catalog catalog = *Catalog::open({.directory = directory_.path()});
    Query query = *Query::compile(catalog, {});
    Sample sample;
    query.collect(sample, Timestamp{});
    const std::uint64_t* row = content_of(sample).row(0);
    if (row[0] != kCounts || row[1] != 2 * kCounts) return 4;
    if (!has_distribution_) return 0;
    const auto rows = test::cooked_values(nullptr, sample);
    const auto& took = rows.back().distribution;
    return took != nullptr && took->count == kCounts && took->sum == 3 * kCounts ? 0 : 5;
  }

  // The first thread, the interrupted one twice, the handler, the last thread.
  static constexpr std::uint64_t kCounts = 5;

  // Atomic, so that it is not looked at before `is_counted` is stored.
  inline static std::atomic<bool> was_handled_{false};
  test::TemporaryDirectory directory_;
  Consistency consistency_;
  Count count_;
  bool has_distribution_;
  // In the child.
  std::optional<Provider> provider_;
  ShardedInstance instance_;
};

void count_apart(ShardedInstance& instance) {
  instance.add(Job::kDone, 1);
  instance.add(Job::kTwice, 2);
}
void count_in_one(ShardedInstance& instance) {
  instance.update([](ShardValues& values) noexcept {
    values.add(Job::kDone, 1);
    values.add(Job::kTwice, 2);
  });
}
void count_and_record(ShardedInstance& instance) {
  count_in_one(instance);
  instance.recorder(Job::kTook).record(3);
}

// Returns after how many instructions it was over. The ordinary run skips some.
std::uint64_t interrupt_everywhere(Consistency consistency, Count count, bool has_distribution) {
  const std::uint64_t stride = test::runs_long() ? 1 : 5;
  std::uint64_t places = 0;
  for (;; places += stride) {
    CountAct act(consistency, count, has_distribution);
    SteppedChild child(act);
    if (!child.is_ready()) return 0;
    for (std::uint64_t step = 0; step < places; ++step) {
      if (child.step() != SteppedChild::Stop::kInside) return 0;
    }
    if ((*act.is_counted).load(std::memory_order_seq_cst)) break;
    EXPECT_EQ(child.finish_after(SIGUSR1), SteppedChild::Stop::kFinished)
        << "interrupted after " << places << " instructions: exit code " << child.exit_code();
    if (testing::Test::HasFailure()) break;
  }
  std::cout << "  " << places / stride << " places\n";
  return places;
}

TEST(InterruptedCount, LosesNothingAndLeaksNoNumberWhereverAHandlerCountsToo) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  EXPECT_GT(interrupt_everywhere(Consistency::kBlock, count_apart, false), 200U);
  EXPECT_GT(interrupt_everywhere(Consistency::kBlock, count_in_one, false), 200U);
  EXPECT_GT(interrupt_everywhere(Consistency::kIndependent, count_apart, false), 100U);
  EXPECT_GT(interrupt_everywhere(Consistency::kIndependent, count_in_one, false), 100U);
}

TEST(InterruptedCount, LosesNoValueOfADistributionWhenAHandlerRecordsToo) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  EXPECT_GT(interrupt_everywhere(Consistency::kBlock, count_and_record, true), 300U);
}

}  // namespace
}  // namespace meterbank::interrupted_count_test
