// SPDX-License-Identifier: Apache-2.0
//
// A directory that is followed by its log of changes is the one that a walk finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "catalog/decode/directory_decoder.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using Sets = std::vector<RegisteredSet>;

CountersetSpec named(const char* name, const char* symbol) {
  CountersetSpec spec = test::kOrders;
  spec.name = name;
  spec.symbol = symbol;
  spec.guid = {};
  return spec;
}

bool are_equal(const InstanceView& left, const InstanceView& right) {
  return left.name == right.name && left.id == right.id && left.slot == right.slot &&
         left.generation == right.generation && left.closed == right.closed;
}

// The version and the sets of a directory that does not change meanwhile.
void expect_equal(const Sets& left, const Sets& right) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t index = 0; index < left.size(); ++index) {
    const RegisteredSet& one = left[index];
    const RegisteredSet& other = right[index];
    SCOPED_TRACE(one.set->name);
    EXPECT_EQ(one.set->name, other.set->name);
    EXPECT_EQ(one.generation, other.generation);
    EXPECT_EQ(one.state, other.state);
    EXPECT_EQ(one.membership, other.membership);
    EXPECT_EQ(one.registration, other.registration);
    EXPECT_EQ(one.groups, other.groups);
    EXPECT_EQ(one.group_slots, other.group_slots);
    EXPECT_EQ(one.bytes, other.bytes);
    EXPECT_TRUE(std::equal(one.instances.begin(), one.instances.end(), other.instances.begin(),
                           other.instances.end(), are_equal));
  }
}

std::size_t living(const Sets& sets) {
  std::size_t count = 0;
  for (const RegisteredSet& set : sets) {
    count += static_cast<std::size_t>(std::count_if(set.instances.begin(), set.instances.end(),
                                                    [](const auto& one) { return !one.closed; }));
  }
  return count;
}

// A real provider, and its memory as a reader sees it.
class DirectoryChanges : public testing::Test {
 protected:
  void SetUp() override {
    provider_.emplace(
        *Provider::create({.name = "orders", .directory = directory_.path(), .quarantine = {}}));
    set_ = *provider_->add(test::kOrders);
    other_ = *provider_->add(named("Other Orders", "other_orders"));
    for (const char* const name : {"eu", "us"}) {
      kept_.push_back(*set_.create_instance(name));
      kept_.push_back(*other_.create_instance(name));
    }
    look();
  }
  // Decodes the whole directory.
  void look() {
    const Catalog catalog = *Catalog::open({.directory = directory_.path()});
    segment_ = catalog.providers().front()->segment;
    known_ = decode_directory(*segment_);
  }
  [[nodiscard]] std::optional<DecodedDirectory> follow() const {
    return decode_changes(*segment_, {known_.version, known_.sets});
  }
  void expect_followed(std::size_t instances) {
    const auto followed = follow();
    ASSERT_TRUE(followed.has_value());
    const DecodedDirectory walked = decode_directory(*segment_);
    EXPECT_EQ(followed->version, walked.version);
    expect_equal(followed->sets, walked.sets);
    EXPECT_EQ(living(followed->sets), instances);
  }

  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
  Registration set_, other_;
  std::vector<Instance> kept_;
  std::shared_ptr<const MappedSegment> segment_;
  DecodedDirectory known_;
};

TEST_F(DirectoryChanges, OfNothingLeaveEverythingAsItIs) { expect_followed(4); }

TEST_F(DirectoryChanges, ShowAnInstanceThatWasCreated) {
  kept_.push_back(*set_.create_instance("asia"));
  expect_followed(5);
}

TEST_F(DirectoryChanges, ShowAnInstanceThatWasClosed) {
  kept_.erase(kept_.begin());
  expect_followed(3);
}

TEST_F(DirectoryChanges, ShowTheLastOfSeveralLivesOfOneSlot) {
  kept_.erase(kept_.begin());
  for (int life = 0; life < 5; ++life) {
    const Instance brief = *set_.create_instance("life " + std::to_string(life));
  }
  kept_.push_back(*set_.create_instance("the last one"));
  expect_followed(4);
  const auto followed = follow();
  EXPECT_EQ(followed->sets.front().instances.front().name, "the last one");
}

TEST_F(DirectoryChanges, KeepTheListsOfSetsThatDidNotChange) {
  kept_.push_back(*set_.create_instance("asia"));
  const auto followed = follow();
  ASSERT_TRUE(followed.has_value());
  EXPECT_FALSE(followed->sets[0].instances.is(known_.sets[0].instances));
  EXPECT_TRUE(followed->sets[1].instances.is(known_.sets[1].instances));
}

// 64 is what the log keeps; one more has overwritten the first.
TEST_F(DirectoryChanges, AreFollowedAsFarAsTheLogReaches) {
  for (std::uint32_t change = 0; change < kChangesKept; ++change) {
    kept_.push_back(*set_.create_instance("instance " + std::to_string(change)));
  }
  expect_followed(4 + kChangesKept);
  kept_.push_back(*set_.create_instance("one too many"));
  EXPECT_FALSE(follow().has_value());
}

TEST_F(DirectoryChanges, OfARegistrationAreNotFollowed) {
  const Registration more = *provider_->add(named("More Orders", "more_orders"));
  EXPECT_FALSE(follow().has_value());
  look();
  more.close();
  EXPECT_FALSE(follow().has_value());
  look();
  // The next one takes over the memory of the closed one.
  const Registration again = *provider_->add(named("More Orders", "more_orders"));
  EXPECT_FALSE(follow().has_value());
  look();
  const Instance one = *again.create_instance("one");
  expect_followed(5);
}

TEST_F(DirectoryChanges, OfAProviderThatClosesAreNotFollowed) {
  provider_.reset();
  EXPECT_FALSE(follow().has_value());
}

TEST_F(DirectoryChanges, ShowInstancesOfNewGroups) {
  while (known_.sets.front().groups.size() < 4) {
    std::size_t before = kept_.size();
    for (int more = 0; more < 5; ++more) {
      kept_.push_back(*set_.create_instance("instance " + std::to_string(kept_.size())));
    }
    expect_followed(before + 5);
    known_ = *follow();
  }
}

// ---- A catalog that follows, against one that looks for the first time ----

constexpr int kRounds = 3000;

void expect_followed_like_opened(const std::string& directory, const Catalog& follower) {
  const Catalog fresh = *Catalog::open({.directory = directory});
  const ProviderView& followed = *follower.providers().front();
  const ProviderView& opened = *fresh.providers().front();
  EXPECT_EQ(followed.directory_version, opened.directory_version);
  EXPECT_EQ(followed.bytes, opened.bytes);
  expect_equal(followed.sets, opened.sets);
}

CountersetSpec tiles() {
  CountersetSpec spec = named("Tiles", "tiles");
  spec.many = true;
  return spec;
}

// A walk copies the names of a set that changed; the log lets them lie.
TEST(FollowedDirectory, IsThatOfACatalogThatIsRefreshed) {
  const test::TemporaryDirectory directory;
  Provider provider = *Provider::create({.name = "orders", .directory = directory.path()});
  const Registration set = *provider.add(test::kOrders);
  const Instance eu = *set.create_instance("eu");
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  const auto before = catalog.providers().front();
  const Instance us = *set.create_instance("us");
  ASSERT_TRUE(catalog.refresh().has_value());
  const auto after = catalog.providers().front();
  ASSERT_EQ(after->sets.front().instances.size(), 2U);
  EXPECT_EQ(after->sets.front().instances[0].name.data(),
            before->sets.front().instances[0].name.data());
  expect_followed_like_opened(directory.path(), catalog);
}

// Instances with short and long names come and go in three sets, some of them a hundred at a time.
TEST(FollowedDirectory, IsTheOneThatAWalkFindsAfterAnyChanges) {
  const test::TemporaryDirectory directory;
  Provider provider = *Provider::create({.name = "orders",
                                         .directory = directory.path(),
                                         .quarantine = std::chrono::milliseconds(1)});
  std::vector<Registration> sets;
  sets.push_back(*provider.add(test::kOrders));
  sets.push_back(*provider.add(tiles()));
  sets.push_back(*provider.add(named("Other Orders", "other_orders")));
  Catalog catalog = *Catalog::open({.directory = directory.path()});
  std::vector<Instance> live;
  std::mt19937 random(20261126);
  int named_so_far = 0, followed = 0;
  const auto change = [&] {
    const std::size_t number = random() % (live.size() + 1);
    if (live.size() > 400 || (number < live.size() && random() % 2 == 0)) {
      std::swap(live[number % live.size()], live.back());
      live.pop_back();
    } else {
      const std::size_t padding = random() % 8 == 0 ? random() % 900 : random() % 30;
      live.push_back(*sets[random() % sets.size()].create_instance(std::to_string(++named_so_far) +
                                                                   std::string(padding, 'n')));
    }
  };
  for (int round = 0; round < kRounds && !testing::Test::HasFailure(); ++round) {
    const std::size_t changes = random() % 20 == 0 ? 100 : random() % 5;
    for (std::size_t i = 0; i < changes; ++i) change();
    const ProviderView& before = *catalog.providers().front();
    const bool was_followed =
        decode_changes(*before.segment, {before.directory_version, before.sets}).has_value();
    followed += was_followed ? 1 : 0;
    ASSERT_TRUE(catalog.refresh().has_value());
    if (round % 7 == 0) expect_followed_like_opened(directory.path(), catalog);
  }
  expect_followed_like_opened(directory.path(), catalog);
  EXPECT_GT(followed, kRounds / 2);
}

// ---- A log that lies ----

class ChangeLogImage : public DirectoryChanges {
 protected:
  // Decodes the directory as the provider has it now.
  void take_image() {
    const MappedBytes bytes = segment_->extent(0).bytes();
    lines_.resize(bytes.size() / sizeof(Line));
    std::memcpy(lines_.data(), bytes.span_at(0, bytes.size(), 1), bytes.size());
    attach();
  }
  void attach() {
    auto extent = MappedExtent::over({lines_.front().bytes.data(), lines_.size() * sizeof(Line)});
    segment_ = *MappedSegment::attach(std::move(extent));
    known_ = decode_directory(*segment_);
  }
  [[nodiscard]] SegmentHeader& header() {
    return *reinterpret_cast<SegmentHeader*>(lines_.front().bytes.data());
  }
  // As the provider does it, but for what is said.
  void announce(std::uint64_t version, std::uint64_t entry) {
    header().changes[version % kChangesKept].store(entry, std::memory_order_relaxed);
    header().directory_version.store(version, std::memory_order_relaxed);
  }
  [[nodiscard]] static std::uint64_t entry(std::uint64_t number, DirectoryChange change) {
    change.number = static_cast<std::uint32_t>(number);
    return change.raw();
  }

  struct alignas(kCacheLine) Line {
    std::array<std::byte, kCacheLine> bytes;
  };
  std::vector<Line> lines_;
};

TEST_F(ChangeLogImage, IsFollowedIfItTellsTheTruth) {
  take_image();
  const std::uint64_t next = known_.version + 1;
  announce(next, entry(next, DirectoryChange::of_slot(0, 0)));
  expect_followed(4);
}

TEST_F(ChangeLogImage, IsNotBelievedWithAnEntryOfAnotherNumber) {
  take_image();
  const std::uint64_t next = known_.version + 1;
  for (const std::uint64_t number : {next - kChangesKept, next + kChangesKept, next - 1}) {
    announce(next, entry(number, DirectoryChange::of_slot(0, 0)));
    EXPECT_FALSE(follow().has_value()) << number;
  }
}

TEST_F(ChangeLogImage, IsNotBelievedWhereTheVersionWentBack) {
  take_image();
  announce(known_.version - 1, entry(known_.version - 1, DirectoryChange::of_slot(0, 0)));
  EXPECT_FALSE(follow().has_value());
}

TEST_F(ChangeLogImage, OfAVersionFarAheadIsNotBelieved) {
  take_image();
  const std::uint64_t far = known_.version + (std::uint64_t{1} << 32) + 1;
  announce(far, entry(far, DirectoryChange::of_slot(0, 0)));
  EXPECT_FALSE(follow().has_value());
}

TEST_F(ChangeLogImage, OfARegistrationThatIsNotKnownIsNotBelieved) {
  take_image();
  const std::uint64_t next = known_.version + 1;
  announce(next, entry(next, DirectoryChange::of_slot(200, 0)));
  EXPECT_FALSE(follow().has_value());
}

TEST_F(ChangeLogImage, MayNameSlotsThatDoNotExist) {
  take_image();
  const std::uint64_t next = known_.version + 1;
  announce(next, entry(next, DirectoryChange::of_slot(1, 0xfffffe)));
  expect_followed(4);
}

TEST_F(ChangeLogImage, IsNotBelievedAboutASlotWithoutASoundName) {
  take_image();
  const RegisteredSet& set = known_.sets.front();
  auto* const descriptors = reinterpret_cast<SlotDescriptor*>(
      lines_.front().bytes.data() + offset_of(set.groups[0]) + set.layouts[0].descriptors);
  descriptors[0].identity.store(std::uint64_t{1024} << 32, std::memory_order_relaxed);
  const std::uint64_t next = known_.version + 1;
  announce(next, entry(next, DirectoryChange::of_slot(0, 0)));
  EXPECT_FALSE(follow().has_value());
}

// Whatever the entries say, what is found is what a walk would find of these slots.
TEST_F(ChangeLogImage, OfRandomEntriesChangesNothingThatDidNotChange) {
  take_image();
  std::mt19937_64 random(7);
  std::uint64_t followed = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::uint64_t first = known_.version + 1, count = random() % 70;
    for (std::uint64_t number = first; number < first + count; ++number) {
      const std::uint64_t any = random() % 16 == 0 ? random() : random() % 2 << 24 | random() % 20;
      announce(number, number << 32 | (any & 0xffffffff));
    }
    const auto found = follow();
    if (!found) continue;
    ++followed;
    expect_equal(found->sets, known_.sets);
  }
  EXPECT_GT(followed, 1000U);
}

TEST_F(ChangeLogImage, IsMissingInAHeaderOfAnOlderLayout) {
  take_image();
  header().layout_minor = 1;
  header().header_bytes = kHeaderBytesMin;
  attach();
  EXPECT_EQ(known_.sets.size(), 2U);
  EXPECT_EQ(living(known_.sets), 4U);
  const std::uint64_t next = known_.version + 1;
  announce(next, entry(next, DirectoryChange::of_slot(0, 0)));
  EXPECT_FALSE(segment_->has_change_log());
  EXPECT_FALSE(follow().has_value());
}

}  // namespace
}  // namespace meterbank
