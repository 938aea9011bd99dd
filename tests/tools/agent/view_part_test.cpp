// SPDX-License-Identifier: Apache-2.0
#include "agent/view/view_part.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../../support/comes_true.hpp"
#include "../../support/temporary_directory.hpp"
#include "agent/counts/own_provider.hpp"
#include "agent/counts/record_counts.hpp"
#include "agent/recorder/recorder_part.hpp"
#include "http_client.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"
#include "sales_set.hpp"

namespace meterbank::agent {
namespace {

constexpr std::size_t kTokenDigits = 32;

class ViewPartTest : public ::testing::Test {
 protected:
  ViewPartTest() : sales_(*shop_.add(kSales)), instance_(*sales_.create_instance("eu")) {}

  [[nodiscard]] std::string file() const { return files_.path() + "/view"; }
  [[nodiscard]] ViewSettings settings() const {
    ViewSettings settings;
    settings.address = "127.0.0.1:0";
    settings.address_file = file();
    settings.interval = std::chrono::milliseconds(100);
    return settings;
  }
  [[nodiscard]] CatalogOptions catalog() const { return {.directory = providers_.path()}; }
  Result<void> use(const ViewSettings& settings) { return part_.use(settings, catalog(), {}); }
  // What the file says: "http://127.0.0.1:43571/#5f0c…\n".
  [[nodiscard]] std::string address() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::string token() const {
    const auto text = address();
    return text.substr(text.find('#') + 1, kTokenDigits);
  }
  [[nodiscard]] HttpAnswer get(const std::string& target, const std::string& token) const {
    const auto at = part_.address();
    const HttpClient client(static_cast<std::uint16_t>(std::stoul(at.substr(at.rfind(':') + 1))));
    client.send("GET " + target + " HTTP/1.1\r\nHost: " + at +
                "\r\nConnection: close\r\nAuthorization: Bearer " + token + "\r\n\r\n");
    return HttpClient::parse(client.read_all());
  }

  test::TemporaryDirectory providers_, files_;
  Provider shop_ = *Provider::create({.name = "shop", .directory = providers_.path()});
  Registration sales_;
  Instance instance_;
  Provider own_ = make_own_provider(providers_.path());
  ViewCounts counts_{own_};
  std::vector<std::string> said_;
  ViewPart part_{counts_, [this](const std::string& line) { said_.push_back(line); }};
};

TEST_F(ViewPartTest, ShowsCountersToThoseWhoCanReadTheFile) {
  ASSERT_TRUE(use(settings()));
  EXPECT_EQ(address(), "http://" + part_.address() + "/#" + token() + "\n");
  const HttpAnswer picture = get("/picture?window.lines=9", token());
  EXPECT_EQ(picture.status(), 200);
  EXPECT_NE(picture.body.find("sales"), std::string::npos) << picture.body;
  const HttpAnswer refused = get("/picture?window.lines=9", std::string(kTokenDigits, '0'));
  EXPECT_EQ(refused.status(), 403);
  EXPECT_EQ(refused.body.find("sales"), std::string::npos);
}

TEST_F(ViewPartTest, FileIsForItsOwnerAndGroupAndEndsWithThePage) {
  const mode_t before = ::umask(0);
  ASSERT_TRUE(use(settings()));
  ::umask(before);
  struct stat facts {};
  ASSERT_EQ(::stat(file().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
  part_.stop();
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(files_.path()), {}), 0);
}

TEST_F(ViewPartTest, EqualSettingsKeepTheTokenAndOthersGetANewOne) {
  ASSERT_TRUE(use({}));
  EXPECT_EQ(part_.address(), "");
  ASSERT_TRUE(use(settings()));
  const auto first = address();
  ASSERT_TRUE(use(settings()));
  EXPECT_EQ(address(), first);
  auto others = settings();
  others.paths = {"sales/*"};
  ASSERT_TRUE(use(others));
  const auto second = address();
  EXPECT_NE(second, first);
  // Other providers are another page, whose token those of this one do not know.
  ASSERT_TRUE(part_.use(others, {.directory = files_.path()}, {}));
  EXPECT_NE(address(), second);
  ASSERT_TRUE(use({}));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(ViewPartTest, LeavesNothingWhereItCannotBegin) {
  auto settings = this->settings();
  settings.address_file = files_.path() + "/missing/view";
  const auto refused = use(settings);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("cannot write the address_file"), std::string::npos);
  EXPECT_EQ(part_.address(), "");
  // A link of another user's making is replaced, not followed.
  const auto target = files_.path() + "/target";
  std::ofstream(target) << "kept";
  std::filesystem::create_symlink(target, file() + ".part");
  ASSERT_TRUE(use(this->settings()));
  std::ifstream in(target);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "kept");
}

TEST_F(ViewPartTest, CountsSamplesAndPictures) {
  ASSERT_TRUE(use(settings()));
  EXPECT_EQ(get("/picture?window.lines=9", token()).status(), 200);
  auto live = *Catalog::open(catalog());
  auto query = *Query::compile(live, {"agent_view/sampling", "agent_view/drawing"});
  Sample sample;
  EXPECT_TRUE(test::comes_true([&] {
    query.collect(sample);
    return sample.stored(0)[0] >= 2 && sample.stored(0)[1] >= 1;
  }));
}

// As the agent does when it starts for the first time.
TEST_F(ViewPartTest, BeginsWithARecordingThatHasNothingYetAndSaysNothing) {
  RecordCounts record_counts(own_);
  RecorderPart recorder(record_counts, [this](const std::string& line) { said_.push_back(line); });
  RecordSettings record;
  record.directory = files_.path() + "/ring";
  record.interval = std::chrono::minutes(1);
  ASSERT_TRUE(recorder.use(record, catalog()));
  ASSERT_TRUE(part_.use(settings(), catalog(), record.directory));
  EXPECT_TRUE(said_.empty()) << said_.front();
}

TEST_F(ViewPartTest, SaysThatARecordingCannotBeReadAndBeginsWithoutIt) {
  ASSERT_TRUE(part_.use(settings(), catalog(), files_.path() + "/nothing"));
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_NE(said_.front().find("begins without the recording"), std::string::npos);
  EXPECT_EQ(get("/picture", token()).status(), 200);
}

}  // namespace
}  // namespace meterbank::agent
