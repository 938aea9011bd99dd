// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pcp/options.hpp"

namespace meterbank::pcp {
namespace {

// What the program complains about; empty: nothing.
std::string complaint(const std::vector<std::string>& arguments) {
  const auto line = parse_command_line(arguments);
  return line ? "" : line.error().message();
}

TEST(PcpOptions, AreThoseThatPmcdAndAdministratorsGive) {
  const auto line = parse_command_line({"-d", "300", "-l", "x.log", "-U", "pcp", "--dir", "/run/x",
                                        "--trust", "everyone", "--timeout", "100", "orders/*/*"});

  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->observer.domain, 300);
  EXPECT_EQ(line->log, "x.log");
  EXPECT_EQ(line->user, "pcp");
  EXPECT_EQ(line->observer.catalog.directory, "/run/x");
  EXPECT_EQ(line->observer.catalog.trust, UserPolicy::kEveryone);
  EXPECT_EQ(line->observer.timeout.count(), 100);
  EXPECT_EQ(line->observer.patterns, std::vector<std::string>{"orders/*/*"});
}

TEST(PcpOptions, HaveDefaults) {
  const auto line = parse_command_line({});

  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->observer.domain, kDefaultDomain);
  EXPECT_EQ(line->observer.catalog.trust, UserPolicy::kOwnAndRoot);
  EXPECT_TRUE(line->user.empty());
}

TEST(PcpOptions, SayWhatIsWrongAndWhatIsRight) {
  EXPECT_EQ(complaint({"--trust", "us"}), "invalid trust: us; try: own, root or everyone");
  EXPECT_EQ(complaint({"-d", "511"}), "invalid domain: 511; try: 1 to 510");
  // pmcd would give the agent up after five seconds.
  EXPECT_EQ(complaint({"--timeout", "3001"}), "invalid timeout: 3001; try: 1 to 3000 milliseconds");
  EXPECT_NE(complaint({"--timeout", "x"}), "");
  EXPECT_NE(complaint({"--no-such-option"}), "");
}

}  // namespace
}  // namespace meterbank::pcp
