// SPDX-License-Identifier: Apache-2.0
//
// What a made-up machine publishes, and what it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "host/host_provider.hpp"
#include "host/sets/sets.hpp"
#include "host_tree.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::host {
namespace {

class HostProviderTest : public ::testing::Test {
 protected:
  HostProviderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "meterbank-host-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~HostProviderTest() override {
    host_.reset();
    std::filesystem::remove_all(directory_);
  }

  void start(bool processes = true) {
    HostOptions options;
    options.directory = directory_;
    options.root = tree_.root();
    options.period = std::chrono::milliseconds(10);
    options.process_period = std::chrono::milliseconds(10);
    options.processes = processes;
    auto host = HostProvider::start(options);
    ASSERT_TRUE(host) << host.error().message();
    host_.emplace(std::move(*host));
    auto catalog = Catalog::open({.directory = directory_});
    ASSERT_TRUE(catalog) << catalog.error().message();
    catalog_.emplace(std::move(*catalog));
  }
  [[nodiscard]] const RegisteredSet* find(std::string_view symbol) const {
    for (const auto& set : catalog_->providers().front()->sets) {
      if (set.set->symbol == symbol) return &set;
    }
    return nullptr;
  }
  [[nodiscard]] bool has_counter(std::string_view set, std::string_view counter) const {
    return find(set) != nullptr && find(set)->set->find(counter) != nullptr;
  }
  [[nodiscard]] std::vector<std::string> instances(std::string_view symbol) const {
    std::vector<std::string> names;
    if (const auto* const set = find(symbol)) {
      for (const auto& instance : set->instances) {
        if (!instance.closed) names.emplace_back(instance.name);
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  // Looks until `done`, for as long as the test may take; nothing depends on how long that is.
  template <typename Done>
  void look_until(Done done) {
    do {
      catalog_->refresh();
    } while (!done());
  }

  HostTree tree_;
  std::string directory_;
  std::optional<HostProvider> host_;
  std::optional<Catalog> catalog_;
};

TEST_F(HostProviderTest, PublishesLinksOfInterfacesThatHaveOne) {
  start();

  EXPECT_GT(instances("network_interface").size(), instances("network_link").size());
  EXPECT_FALSE(instances("network_link").empty());
  EXPECT_FALSE(has_counter("network_interface", "current_bandwidth"));
  const auto links = instances("network_link");
  EXPECT_EQ(std::count(links.begin(), links.end(), "lo"), 0);
}

TEST_F(HostProviderTest, ShowsInputAndOutputOnlyOfProcessesThatLetItBeSeen) {
  start();

  const auto all = instances("process_v2");
  const auto open = instances("process_io");
  EXPECT_GT(all.size(), open.size());
  EXPECT_FALSE(open.empty());
  EXPECT_FALSE(has_counter("process_v2", "io_read_bytes"));
  EXPECT_TRUE(has_counter("process_io", "io_read_bytes"));
}

TEST_F(HostProviderTest, LeavesOutWhatOneProcessorDoesNotHave) {
  start();
  ASSERT_TRUE(has_counter("processor_information", "c1_time"));
  host_.reset();
  std::filesystem::remove_all(tree_.root() + "/sys/devices/system/cpu/cpu0/cpuidle");

  start();

  EXPECT_FALSE(has_counter("processor_information", "c1_time"));
  EXPECT_TRUE(has_counter("processor_information", "processor_time"));
}

TEST_F(HostProviderTest, HasNoSetForDevicesThatTheMachineHasNot) {
  tree_.write("proc/diskstats", "");

  start();

  EXPECT_EQ(find("physical_disk"), nullptr);
  EXPECT_NE(find("memory"), nullptr);
}

TEST_F(HostProviderTest, LeavesProcessesOutOnRequest) {
  start(false);

  EXPECT_EQ(find("process_v2"), nullptr);
  EXPECT_EQ(find("process_io"), nullptr);
  EXPECT_TRUE(has_counter("system", "processes"));
}

TEST_F(HostProviderTest, ClosesAnInterfaceThatWasPulledOutAndOpensItAgain) {
  start();
  const auto before = instances("network_interface");
  const auto all = tree_.read("proc/net/dev");
  const auto line_begin = all.rfind('\n', all.size() - 2) + 1;
  tree_.write("proc/net/dev", all.substr(0, line_begin));

  look_until([&] { return instances("network_interface").size() == before.size() - 1; });
  tree_.write("proc/net/dev", all);
  look_until([&] { return instances("network_interface") == before; });
}

TEST_F(HostProviderTest, SaysWhatIsMissingOnAMachineWithoutProcfs) {
  std::filesystem::remove_all(tree_.root() + "/proc");
  HostOptions options;
  options.directory = directory_;
  options.root = tree_.root();

  const auto host = HostProvider::start(options);

  ASSERT_FALSE(host);
  EXPECT_NE(host.error().message().find("mount procfs"), std::string::npos);
}

// What a consumer written for Windows asks for by number. Those from 100 on are ours.
TEST_F(HostProviderTest, GivesProcessorInformationTheNumbersThatWindowsGivesIt) {
  start();
  const auto* const registered = find("processor_information");
  ASSERT_NE(registered, nullptr);
  const Counterset& set = *registered->set;

  EXPECT_EQ(set.guid, "{b4fc721a-0378-476f-89ba-a5a79f810b36}"_guid);
  EXPECT_EQ(set.provider_guid, "{383487a6-3676-4870-a4e7-d45b30c35629}"_guid);
  struct Known {
    std::uint32_t id;
    std::string_view name;
    CounterType type;
  };
  for (const Known& known : {Known{0, "% Processor Time", CounterType::kTimer100NsInverse},
                             Known{1, "% User Time", CounterType::kTimer100Ns},
                             Known{2, "% Privileged Time", CounterType::kTimer100Ns},
                             Known{3, "Interrupts/sec", CounterType::kCounter},
                             Known{4, "% DPC Time", CounterType::kTimer100Ns},
                             Known{5, "% Interrupt Time", CounterType::kTimer100Ns},
                             Known{8, "% Idle Time", CounterType::kTimer100Ns},
                             Known{9, "% C1 Time", CounterType::kTimer100Ns},
                             Known{12, "C1 Transitions/sec", CounterType::kBulkCount}}) {
    const CounterView* const counter = set.find(known.id);
    ASSERT_NE(counter, nullptr) << known.name;
    EXPECT_EQ(counter->name, known.name);
    EXPECT_EQ(counter->type, known.type) << known.name;
  }
}

// ---- README ----

void expect_named(const std::string& readme, const CountersetSpec& set) {
  const auto begin = readme.find("### `" + std::string(set.symbol) + "`");
  ASSERT_NE(begin, std::string::npos) << set.symbol;
  const auto section = readme.substr(begin, readme.find("\n## ", begin) - begin);
  const auto table = section.substr(0, section.find("\n### ", 1));
  std::size_t named = 0;
  for (const CounterSpec& counter : set.counters) {
    if (counter.name.empty()) continue;
    const auto row =
        "| `" + std::string(counter.symbol) + "` | " + std::string(counter.name) + " | ";
    EXPECT_NE(table.find(row), std::string::npos) << row;
    ++named;
  }
  std::size_t rows = 0;  // none for a counter that is no longer there
  for (auto at = table.find("\n| `"); at != std::string::npos; at = table.find("\n| `", at + 1)) {
    ++rows;
  }
  EXPECT_EQ(rows, named) << set.symbol;
}

TEST(HostReadme, NamesEveryCounterAndNoOther) {
  std::ifstream stream(METERBANK_HOST_README);
  const std::string readme{std::istreambuf_iterator<char>(stream), {}};

  expect_named(readme, processor_information());
  expect_named(readme, system_set());
  expect_named(readme, memory_set());
  expect_named(readme, disk_set());
  expect_named(readme, network_set());
  expect_named(readme, link_set());
  expect_named(readme, process_set());
  expect_named(readme, process_io_set());
}

}  // namespace
}  // namespace meterbank::host
