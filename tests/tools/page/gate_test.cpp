// SPDX-License-Identifier: Apache-2.0
#include "page/server/gate.hpp"

#include <gtest/gtest.h>

namespace meterbank::page {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef0123456789abcdef";

class GateTest : public ::testing::Test {
 protected:
  // A request of the page that the program served.
  static RequestWords own() {
    return {.method = "GET",
            .path = "/picture",
            .host = "127.0.0.1:4000",
            .origin = {},
            .authorization = "Bearer 0123456789abcdef0123456789abcdef",
            .fetch_site = "same-origin",
            .fetch_mode = "cors"};
  }
  [[nodiscard]] unsigned status(const RequestWords& words) const {
    const auto refusal = gate_.refuse(words);
    return refusal ? refusal->status : 0;
  }

  Gate gate_{Token(std::string(kDigits)), 4000};
};

TEST_F(GateTest, LetsThePageIn) {
  EXPECT_EQ(status(own()), 0U);
  auto words = own();
  words.origin = "http://127.0.0.1:4000";
  EXPECT_EQ(status(words), 0U);
  words.host = "localhost:4000";
  words.origin = "http://localhost:4000";
  EXPECT_EQ(status(words), 0U);
  words.host = "[::1]:4000";
  words.origin = {};
  words.fetch_site = {};
  EXPECT_EQ(status(words), 0U);
}

TEST_F(GateTest, RefusesATokenThatIsMissingOrDiffersAnywhere) {
  auto words = own();
  words.authorization = {};
  EXPECT_EQ(status(words), 403U);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    std::string other = "Bearer " + std::string(kDigits);
    char& digit = other[other.size() - 1 - i];
    digit = digit == '0' ? '1' : '0';
    words.authorization = other;
    EXPECT_EQ(status(words), 403U) << other;
  }
  for (const std::string_view other :
       {"Bearer ", "Bearer 0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef",
        "Bearer 0123456789abcdef0123456789abcdef0", "bearer 0123456789abcdef0123456789abcdef"}) {
    words.authorization = other;
    EXPECT_EQ(status(words), 403U) << other;
  }
}

TEST_F(GateTest, RefusesNamesThatOnlyLeadToThisMachine) {
  for (const std::string_view host :
       {"", "127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "localhost.evil.example:4000",
        "127.0.0.1:4000.evil.example", "[::1]", "localhost"}) {
    auto words = own();
    words.host = host;
    EXPECT_EQ(status(words), 403U) << host;
    words.path = "/";
    EXPECT_EQ(status(words), 403U) << host;
  }
}

TEST_F(GateTest, RefusesOtherSitesAndOtherPortsEvenWithTheToken) {
  for (const std::string_view origin :
       {"http://evil.example", "http://127.0.0.1:8080", "https://127.0.0.1:4000", "null"}) {
    auto words = own();
    words.origin = origin;
    EXPECT_EQ(status(words), 403U) << origin;
  }
  for (const std::string_view site : {"cross-site", "same-site"}) {
    auto words = own();
    words.fetch_site = site;
    EXPECT_EQ(status(words), 403U) << site;
  }
}

TEST_F(GateTest, GivesTheDocumentToThoseWhoFollowALinkAndNotToFrames) {
  RequestWords words = own();
  words.path = "/";
  words.authorization = {};
  words.fetch_site = "cross-site";
  words.fetch_mode = "navigate";
  EXPECT_EQ(status(words), 0U);
  words.fetch_mode = "no-cors";
  EXPECT_EQ(status(words), 403U);
}

TEST_F(GateTest, AnswersGetAlone) {
  for (const std::string_view method : {"POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"}) {
    auto words = own();
    words.method = method;
    EXPECT_EQ(status(words), 405U) << method;
  }
}

TEST(Token, IsAnotherOneEachTime) {
  const auto one = Token::make();
  const auto other = Token::make();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->digits().size(), 32U);
  EXPECT_NE(one->digits(), other->digits());
  EXPECT_TRUE(one->is(one->digits()));
  EXPECT_FALSE(one->is(other->digits()));
  EXPECT_FALSE(one->is(""));
}

}  // namespace
}  // namespace meterbank::page
