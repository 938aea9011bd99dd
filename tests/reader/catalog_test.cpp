// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/catalog.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "../support/comes_true.hpp"
#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

using test::Venue;

class CatalogTest : public testing::Test {
 protected:
  [[nodiscard]] Provider start(std::string name = "orders") const {
    return *Provider::create({.name = std::move(name), .directory = directory_.path()});
  }
  [[nodiscard]] Catalog open(CatalogOptions options = {}) const {
    options.directory = directory_.path();
    return *Catalog::open(options);
  }
  // A provider in a child process with one instance, "eu". Returns when it publishes.
  [[nodiscard]] pid_t start_child(std::string name = "orders",
                                  std::chrono::milliseconds heartbeat = {}) const {
    int ready[2] = {};
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ProviderOptions options{.name = std::move(name), .directory = directory_.path()};
      if (heartbeat.count() != 0) options.heartbeat = heartbeat;
      auto provider = Provider::create(options);
      const auto venues = provider->add(test::kOrders);
      auto eu = venues->create_instance("eu");
      eu->add(Venue::kAccepted, 42);
      static_cast<void>(::write(ready[1], "r", 1));
      for (;;) ::pause();
    }
    ::close(ready[1]);  // so that a child which dies early is an end of file
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    return child;
  }
  static void kill_child(pid_t child) {
    ::kill(child, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
  }
  void write_file(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() + "/" + name) << text;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CatalogTest, FindsNoProviderInAnEmptyDirectory) {
  const Catalog catalog = open();
  EXPECT_TRUE(catalog.providers().empty());
  EXPECT_EQ(catalog.directories(), std::vector<std::string>{directory_.path()});
  EXPECT_EQ(catalog.skipped(), 0U);
}

TEST_F(CatalogTest, FailsOnANamedDirectoryThatIsNotThereOrNotSafe) {
  const auto missing = Catalog::open({.directory = directory_.path() + "/none"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNoDirectory);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0777), 0);
  const auto unsafe = Catalog::open({.directory = directory_.path()});
  ASSERT_FALSE(unsafe.has_value());
  EXPECT_EQ(unsafe.error().code, ErrorCode::kNoDirectory);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  EXPECT_TRUE(Catalog::open({.directory = directory_.path()}).has_value());
}

TEST_F(CatalogTest, ListsAProviderAsItDescribesItself) {
  Provider provider = start();
  const Registration venues = *provider.add(test::kOrders);
  const Instance eu = *venues.create_instance("eu");
  const Instance far = *venues.create_instance(std::string(300, 'n'), {.id = 77});

  const Catalog catalog = open();

  ASSERT_EQ(catalog.providers().size(), 1U);
  const ProviderView& view = *catalog.providers().front();
  EXPECT_EQ(view.name, "orders");
  EXPECT_EQ(view.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(view.uid, ::geteuid());
  EXPECT_EQ(view.label(), "orders@" + std::to_string(::getpid()));
  EXPECT_EQ(view.state, ProviderState::kLive);
  EXPECT_TRUE(view.errors.empty());
  EXPECT_EQ(view.refused(), 0U);
  ASSERT_EQ(view.sets.size(), 1U);
  const RegisteredSet& set = view.sets.front();
  EXPECT_EQ(set.set->name, "Demo Orders");
  EXPECT_EQ(set.set->symbol, "demo_orders");
  EXPECT_EQ(set.set->guid, test::kOrders.guid);
  EXPECT_EQ(set.set->label, "venue");
  EXPECT_EQ(set.set->instances, InstanceKind::kMultiple);
  EXPECT_EQ(set.state, RegistrationState::kInserted);
  ASSERT_EQ(set.set->counters.size(), 3U);
  EXPECT_EQ(set.set->counters[2].id, 5U);
  EXPECT_EQ(set.set->counters[2].word, 2U);
  EXPECT_EQ(set.set->find("ACCEPTED/SEC"), &set.set->counters[0]);
  EXPECT_EQ(set.set->find("queue_depth"), &set.set->counters[2]);
  EXPECT_EQ(set.set->find("depth"), nullptr);
  ASSERT_EQ(set.instances.size(), 2U);
  EXPECT_EQ(set.instances[0].name, "eu");
  EXPECT_EQ(set.instances[0].id, eu.id());
  EXPECT_EQ(set.instances[1].name, std::string(300, 'n'));
  EXPECT_EQ(set.instances[1].id, 77U);
}

TEST_F(CatalogTest, BecomesStaleWithEachChangeAndFreshWithRefresh) {
  Provider provider = start();
  const Registration venues = *provider.add(test::kOrders);
  Catalog catalog = open();
  EXPECT_FALSE(catalog.stale());

  std::optional<Instance> eu = *venues.create_instance("eu");
  EXPECT_TRUE(catalog.stale());
  catalog.refresh();
  EXPECT_FALSE(catalog.stale());
  EXPECT_EQ(catalog.providers().front()->sets.front().instances.size(), 1U);

  eu->add(Venue::kAccepted, 1);
  EXPECT_FALSE(catalog.stale());

  eu.reset();
  EXPECT_TRUE(catalog.stale());
  catalog.refresh();
  EXPECT_TRUE(catalog.providers().front()->sets.front().instances.front().closed);
  EXPECT_EQ(catalog.providers().front()->sets.front().instances.live(), 0U);
}

TEST_F(CatalogTest, KeepsTheViewOfAProviderThatDidNotChange) {
  Provider changing = start("changing");
  Provider quiet = start("quiet");
  Catalog catalog = open();
  const auto before = catalog.providers();
  const std::uint64_t version = catalog.version();

  catalog.refresh();
  EXPECT_EQ(catalog.providers(), before);
  EXPECT_EQ(catalog.version(), version);

  const Registration venues = *changing.add(test::kOrders);
  catalog.refresh();
  EXPECT_NE(catalog.providers()[0], before[0]);
  EXPECT_EQ(catalog.providers()[1], before[1]);
  EXPECT_GT(catalog.version(), version);
}

TEST_F(CatalogTest, DecodesTheSchemaOfARegistrationOnce) {
  Provider provider = start();
  const Registration venues = *provider.add(test::kOrders);
  Catalog catalog = open();
  const auto schema = catalog.providers().front()->sets.front().set;
  const Instance eu = *venues.create_instance("eu");
  catalog.refresh();
  EXPECT_EQ(catalog.providers().front()->sets.front().set, schema);
}

TEST_F(CatalogTest, FollowsASegmentThatGrows) {
  Provider provider = start();
  const Registration venues = *provider.add(test::kOrders);
  Catalog catalog = open();
  const std::uint64_t bytes = catalog.providers().front()->bytes;
  std::vector<Instance> many;
  many.reserve(2000);
  for (int i = 0; i < 2000; ++i) many.push_back(*venues.create_instance("i" + std::to_string(i)));
  catalog.refresh();
  const ProviderView& view = *catalog.providers().front();
  EXPECT_GT(view.bytes, bytes);
  EXPECT_GT(view.segment->extents(), 1U);
  EXPECT_TRUE(view.errors.empty());
  EXPECT_EQ(view.sets.front().instances.size(), 2000U);
}

TEST_F(CatalogTest, ForgetsAProviderThatClosedInOrder) {
  std::optional<Provider> provider = start();
  Catalog catalog = open();
  const auto view = catalog.providers().front();
  provider.reset();
  EXPECT_TRUE(catalog.stale());
  catalog.refresh();
  EXPECT_TRUE(catalog.providers().empty());
  EXPECT_NE(view->segment, nullptr);  // a holder of the view can still read
}

TEST_F(CatalogTest, ShowsADeathAndKeepsTheLastValues) {
  const pid_t child = start_child();
  Catalog catalog = open();
  ASSERT_EQ(catalog.providers().size(), 1U);
  EXPECT_EQ(catalog.providers().front()->state, ProviderState::kLive);

  kill_child(child);
  catalog.refresh();

  ASSERT_EQ(catalog.providers().size(), 1U);
  const ProviderView& view = *catalog.providers().front();
  EXPECT_EQ(view.state, ProviderState::kDead);
  EXPECT_NE(view.segment, nullptr);
  ASSERT_EQ(view.sets.size(), 1U);
  EXPECT_EQ(view.sets.front().instances.size(), 1U);
}

TEST_F(CatalogTest, CallsAProviderHungWhileItsKeeperDoesNotTick) {
  const pid_t child = start_child("orders", std::chrono::milliseconds(100));
  Catalog catalog = open();
  const auto is_in = [&catalog](ProviderState state) {
    catalog.refresh();
    return catalog.providers().front()->state == state;
  };
  ASSERT_EQ(catalog.providers().size(), 1U);
  EXPECT_TRUE(test::comes_true([&] { return is_in(ProviderState::kLive); }));

  ::kill(child, SIGSTOP);
  EXPECT_TRUE(test::comes_true([&] { return is_in(ProviderState::kHung); }));
  const ProviderView& view = *catalog.providers().front();
  ASSERT_EQ(view.sets.size(), 1U);
  EXPECT_EQ(view.sets.front().instances.size(), 1U);

  ::kill(child, SIGCONT);
  EXPECT_TRUE(test::comes_true([&] { return is_in(ProviderState::kLive); }));
  kill_child(child);
}

TEST_F(CatalogTest, SaysThatTheMemoryOfADeadProviderIsGone) {
  kill_child(start_child());
  const Catalog catalog = open();
  ASSERT_EQ(catalog.providers().size(), 1U);
  const ProviderView& view = *catalog.providers().front();
  EXPECT_EQ(view.state, ProviderState::kDead);
  EXPECT_EQ(view.error.code, ErrorCode::kGone);
  EXPECT_EQ(view.segment, nullptr);
  EXPECT_EQ(directory_.files(), 2U);  // record and door are not the reader's to remove
}

TEST_F(CatalogTest, ListsASuccessorInPlaceOfItsDeadPredecessor) {
  kill_child(start_child("orders"));
  Catalog catalog = open();
  EXPECT_EQ(catalog.providers().front()->state, ProviderState::kDead);
  Provider successor = start("orders");
  catalog.refresh();
  ASSERT_EQ(catalog.providers().size(), 1U);
  EXPECT_EQ(catalog.providers().front()->state, ProviderState::kLive);
}

TEST_F(CatalogTest, DoesNotBringValuesOfAPredecessorBackWhenItsSuccessorEnds) {
  const pid_t child = start_child("orders");
  // Under a name by which its successor does not find it.
  const std::string record = open().providers().front()->record;
  std::filesystem::rename(record, directory_.path() + "/kept.provider");
  Catalog catalog = open();
  kill_child(child);
  catalog.refresh();
  EXPECT_NE(catalog.providers().front()->segment, nullptr);
  std::optional<Provider> successor = start("orders");
  catalog.refresh();
  successor.reset();
  catalog.refresh();
  ASSERT_EQ(catalog.providers().size(), 1U);
  EXPECT_EQ(catalog.providers().front()->state, ProviderState::kDead);
  EXPECT_EQ(catalog.providers().front()->segment, nullptr);
}

TEST_F(CatalogTest, CountsForeignFilesAndReadsTheRecords) {
  Provider provider = start();
  write_file("notes.txt", "hello");
  write_file("empty.provider", "");
  write_file("long.provider", std::string(kPointerRecordBytesMax + 1, 'x'));
  write_file(".half.new", "meterbank 1\n");
  ASSERT_EQ(::mkfifo((directory_.path() + "/pipe.provider").c_str(), 0644), 0);
  ASSERT_EQ(::mkdir((directory_.path() + "/folder.provider").c_str(), 0755), 0);
  ASSERT_EQ(::symlink(provider.record().c_str(), (directory_.path() + "/link.provider").c_str()),
            0);
  const Catalog catalog = open();
  EXPECT_EQ(catalog.providers().size(), 1U);
  EXPECT_EQ(catalog.skipped(), 6U);
}

TEST_F(CatalogTest, RefusesARecordWhoseDescriptorIsSomethingElse) {
  Provider provider = start();
  std::ifstream file(provider.record());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  PointerRecord record = *PointerRecord::parse(text);
  record.inode += 1;
  write_file("forged.provider", record.text());
  const Catalog catalog = open();
  ASSERT_EQ(catalog.providers().size(), 2U);
  std::size_t unreadable = 0;
  for (const auto& view : catalog.providers()) {
    if (view->state != ProviderState::kUnreadable) continue;
    ++unreadable;
    // Its door lives, and hands out another segment than the record names.
    EXPECT_EQ(view->error.code, ErrorCode::kCorrupt);
  }
  EXPECT_EQ(unreadable, 1U);
}

TEST_F(CatalogTest, TakesARecordOfAnEarlierBootForDead) {
  Provider provider = start();
  std::ifstream file(provider.record());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  PointerRecord record = *PointerRecord::parse(text);
  record.name = "earlier";
  record.boot_id[0] ^= 1;
  record.start_time += 1;  // another process had the pid then
  write_file("earlier.provider", record.text());
  const Catalog catalog = open();
  ASSERT_EQ(catalog.providers().size(), 2U);
  EXPECT_EQ(catalog.providers()[0]->name, "earlier");
  EXPECT_EQ(catalog.providers()[0]->state, ProviderState::kDead);
  EXPECT_EQ(catalog.providers()[1]->state, ProviderState::kLive);
}

TEST_F(CatalogTest, MapsNoMoreThanItsCapsAllow) {
  Provider provider = start();
  const Catalog small = open({.segment_bytes_max = 4096});
  ASSERT_EQ(small.providers().size(), 1U);
  EXPECT_EQ(small.providers().front()->error.code, ErrorCode::kLimit);
  EXPECT_EQ(small.providers().front()->limited_by, ReadLimit::kSegmentBytes);
  const Catalog poor = open({.user_bytes_max = 4096});
  EXPECT_EQ(poor.providers().front()->limited_by, ReadLimit::kUserBytes);
  const Catalog none = open({.providers_per_user_max = 0});
  EXPECT_TRUE(none.providers().empty());
  EXPECT_EQ(none.skipped(), 1U);
}

// A hand-made segment that lists its first extent repeatedly: each would be mapped, charged
// and looked at as memory of its own.
TEST_F(CatalogTest, MapsEachMemoryOfASegmentOnce) {
  std::vector<std::byte> image;
  {
    const Provider provider = start("honest");
    const Catalog catalog = open();
    const MappedBytes bytes = catalog.providers().front()->segment->extent(0).bytes();
    image.resize(bytes.size());
    std::memcpy(image.data(), bytes.span_at(0, bytes.size(), 1), bytes.size());
  }
  const OwnedExtent extent = *OwnedExtent::create("twice", image.size());
  std::memcpy(extent.data(), image.data(), image.size());
  auto& header = *reinterpret_cast<SegmentHeader*>(extent.data());
  for (ExtentEntry& entry : header.extents) {
    entry = {extent.size(), extent.inode(), static_cast<std::uint32_t>(extent.descriptor()), 0};
  }
  header.extents_count.store(kExtentsMax, std::memory_order_relaxed);
  header.state.store(static_cast<std::uint32_t>(SegmentState::kLive), std::memory_order_relaxed);
  const auto pid = static_cast<std::uint32_t>(::getpid());
  ASSERT_TRUE(write_record(directory_.path(),
                           {.name = "twice",
                            .pid = pid,
                            .start_time = process_start_time(pid),
                            .boot_id = boot_id(),
                            .descriptor = static_cast<std::uint32_t>(extent.descriptor()),
                            .inode = extent.inode(),
                            .bytes = extent.size(),
                            .layout_major = kLayoutMajor,
                            .layout_minor = kLayoutMinor}));
  const Catalog catalog = open();
  ASSERT_EQ(catalog.providers().size(), 1U);
  const ProviderView& twice = *catalog.providers().front();
  EXPECT_EQ(twice.bytes, extent.size());
  EXPECT_EQ(twice.segment->extents(), 1U);
  EXPECT_EQ(twice.error.code, ErrorCode::kCorrupt) << twice.error.message();
}

TEST_F(CatalogTest, CountsWhatAProviderHadToRefuse) {
  Provider provider =
      *Provider::create({.name = "full", .directory = directory_.path(), .instances_max = 1});
  const Registration venues = *provider.add(test::kOrders);
  const Instance eu = *venues.create_instance("eu");
  const Catalog catalog = open();
  EXPECT_FALSE(venues.create_instance("us").has_value());
  EXPECT_EQ(catalog.providers().front()->refused(), 1U);
}

}  // namespace
}  // namespace meterbank
