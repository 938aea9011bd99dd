// SPDX-License-Identifier: Apache-2.0
#include "agent/recorder/recorder_part.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../support/comes_true.hpp"
#include "../../support/temporary_directory.hpp"
#include "agent/counts/own_provider.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/recording/recording.hpp"
#include "sales_set.hpp"

namespace meterbank::agent {
namespace {

class RecorderPartTest : public ::testing::Test {
 protected:
  [[nodiscard]] RecordSettings settings() const {
    RecordSettings settings;
    settings.directory = files_.path() + "/ring";
    settings.interval = std::chrono::milliseconds(10);
    return settings;
  }
  [[nodiscard]] CatalogOptions catalog() const { return {.directory = providers_.path()}; }
  // How many samples of the set the recording has.
  [[nodiscard]] std::size_t recorded() const { return samples_in(settings().directory); }
  [[nodiscard]] static std::size_t samples_in(const std::string& directory) {
    auto recording = recording::Recording::open(directory);
    if (!recording) return 0;
    std::size_t samples = 0;
    while (recording->next()) {
      const auto query = Query::compile(recording->catalog(), {"sales/eu/sold"});
      samples += query->selected().size();
    }
    EXPECT_TRUE(recording->damages().empty());
    return samples;
  }

  test::TemporaryDirectory providers_, files_;
  Provider own_ = make_own_provider(providers_.path());
  RecordCounts counts_{own_};
  std::vector<std::string> said_;
  RecorderPart part_{counts_, [this](const std::string& line) { said_.push_back(line); }};
};

TEST_F(RecorderPartTest, RecordsProvidersUntilItIsStopped) {
  auto provider = *Provider::create({.name = "shop", .directory = providers_.path()});
  auto sales = *provider.add(kSales);
  const auto instance = sales.create_instance("eu");
  ASSERT_TRUE(instance) << instance.error().what;
  ASSERT_TRUE(part_.use(settings(), catalog()));
  EXPECT_TRUE(test::comes_true([this] { return recorded() >= 5; }));
  part_.stop();
  const std::size_t samples = recorded();
  EXPECT_GE(samples, 5U);
  EXPECT_EQ(recorded(), samples);
  EXPECT_TRUE(said_.empty());
  // It is one of the providers that are recorded.
  auto live = *Catalog::open(catalog());
  auto query = *Query::compile(live, {"agent_recorder/samples"});
  Sample sample;
  query.collect(sample);
  EXPECT_GE(sample.stored(0)[0], samples);
}

TEST_F(RecorderPartTest, IsOffWithoutADirectoryAndGoesOnWithEqualSettings) {
  ASSERT_TRUE(part_.use({}, catalog()));
  ASSERT_TRUE(part_.use(settings(), catalog()));
  // A second recorder on the directory would be refused, so this one was not started anew.
  ASSERT_TRUE(part_.use(settings(), catalog()));
  RecorderPart second(counts_, [](const std::string&) {});
  const auto refused = second.use(settings(), catalog());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExists);
  ASSERT_TRUE(part_.use({}, catalog()));
  EXPECT_TRUE(second.use(settings(), catalog()));
}

TEST_F(RecorderPartTest, GoesOnInAnotherDirectoryAndLeavesTheFirstOneWhole) {
  auto provider = *Provider::create({.name = "shop", .directory = providers_.path()});
  auto sales = *provider.add(kSales);
  const auto instance = *sales.create_instance("eu");
  ASSERT_TRUE(part_.use(settings(), catalog()));
  EXPECT_TRUE(test::comes_true([this] { return recorded() >= 3; }));
  RecordSettings moved = settings();
  moved.directory = files_.path() + "/moved";

  ASSERT_TRUE(part_.use(moved, catalog()));

  const std::size_t before = recorded();
  EXPECT_GE(before, 3U);
  EXPECT_TRUE(test::comes_true([&] { return samples_in(moved.directory) >= 3; }));
  EXPECT_EQ(recorded(), before);
  // The first directory is free for another recorder, which has counts of its own: it has a thread,
  // too.
  test::TemporaryDirectory elsewhere;
  Provider other = make_own_provider(elsewhere.path());
  RecordCounts others_counts(other);
  RecorderPart second(others_counts, [](const std::string&) {});
  EXPECT_TRUE(second.use(settings(), catalog()));
  EXPECT_TRUE(said_.empty()) << said_.front();
}

}  // namespace
}  // namespace meterbank::agent
