// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"

namespace meterbank::cli {
namespace {

class Doctor : public CliTest {};

TEST_F(Doctor, FindsNothingInTheWayOfALivePublisher) {
  open_shop();

  const auto outcome = meterbank({"doctor"});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.out;
  for (const char* subject : {"directory", "publisher", "layout", "clock", "limits", "pmu"}) {
    EXPECT_NE(outcome.out.find(subject), std::string::npos) << subject;
  }
  EXPECT_NE(outcome.out.find("shop@"), std::string::npos);
}

TEST_F(Doctor, WarnsOfADirectoryThatOthersMayWriteTo) {
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);

  const auto outcome = meterbank({"doctor"});

  EXPECT_EQ(outcome.code, kExitNo) << outcome.out;
  EXPECT_NE(outcome.out.find("PROBLEM"), std::string::npos) << outcome.out;
}

TEST_F(Doctor, FindsAMissingDirectory) {
  const std::string missing = directory_ + "/missing";

  const auto outcome = run_plainly({"doctor", "--dir", missing});

  EXPECT_EQ(outcome.code, kExitNo) << outcome.out;
  const std::string problem = "PROBLEM  open directory " + missing + ": No such file or directory";
  EXPECT_NE(outcome.out.find(problem), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace meterbank::cli
