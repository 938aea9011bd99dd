// SPDX-License-Identifier: Apache-2.0
//
// One attack beside one healthy provider, and every verb that reads. A scene runs in a process of
// its own, so that many can run at a time and nothing is left of one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "../../../support/depth.hpp"
#include "../../../support/sanitizers.hpp"
#include "../providers/attack.hpp"

namespace meterbank::hostile {

struct Programs {
  std::string cli, provider, healthy, small_reader, perflib_reader;
  // Each attack meets one of so many parts of the verbs, and the next attack meets the next part.
  // At full depth all verbs are one part; under a sanitizer a program takes ten times as long to
  // begin.
  std::size_t parts = test::kHasSanitizer ? 9 : test::runs_long() ? 1 : 3;
};

struct SceneResult {
  std::string name;
  std::string skipped;                // why; empty: it took place
  std::vector<std::string> findings;  // what did not hold
  bool only_late = false;             // and all of it is that something had not ended
  unsigned verbs = 0;                 // that were run
  double slowest_seconds = 0;
  std::string slowest;
  double peak_mebibytes = 0;
};

// `number` decides which formats take their turn where not all are run.
[[nodiscard]] SceneResult play(const Programs& programs, const Attack& attack, std::size_t number);

// All of them, some at a time, in their order; those that were merely late once more, alone.
[[nodiscard]] std::vector<SceneResult> play_all(std::size_t count,
                                                const std::function<SceneResult(std::size_t)>& one);

}  // namespace meterbank::hostile
