// SPDX-License-Identifier: Apache-2.0
//
// Recording while a command runs.
#include <filesystem>
#include <string>

#include "../cli_fixture.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::cli::recorded_command_test {
namespace {

class RecordedCommand : public CliTest {};

TEST_F(RecordedCommand, IsRecordedUntilItHasEndedAfterASignal) {
  open_shop();
  // It is told to stop by the recorder, which it signals, and takes half a second for it.
  const std::string script =
      "trap 'sleep 0.5; exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.01; done";
  const auto done = run_plainly({"record", "-o", file("shop.mbr"), "-i", "20ms", "--dir",
                                 directory_, "--", "sh", "-c", script});
  EXPECT_EQ(done.code, 3) << done.err;
  auto recording = recording::Recording::open(file("shop.mbr"));
  ASSERT_TRUE(recording) << recording.error().message();
  unsigned samples = 0;
  while (recording->next()) ++samples;
  EXPECT_GE(samples, 10U) << done.err;
}

}  // namespace
}  // namespace meterbank::cli::recorded_command_test
