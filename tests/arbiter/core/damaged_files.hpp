// SPDX-License-Identifier: Apache-2.0
//
// Files of the arbiter with random faults: each is read, or refused by name with a remedy.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>

namespace meterbank::arbiter {

// Gives `parse` copies of the text, each with one to `faults_max` faults: another byte, some bytes
// less, or some of it twice. Precondition: it calls the file "f".
template <typename Parse>
void expect_refusals_are_named(const std::string& whole, int copies, unsigned faults_max,
                               Parse parse) {
  std::mt19937 random(7);
  int refusals = 0;
  for (int i = 0; i < copies; ++i) {
    std::string text = whole;
    for (auto n = 1 + random() % faults_max; n > 0; --n) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, 1 + random() % 40);
          break;
        default:
          text.insert(at, text, random() % text.size(), random() % 40);
      }
    }
    const auto parsed = parse(text);
    if (parsed) continue;
    ++refusals;
    ASSERT_TRUE(parsed.error().what.starts_with("f:")) << parsed.error().what;
    ASSERT_FALSE(parsed.error().remedy.empty()) << parsed.error().what;
    for (const char c : parsed.error().message()) ASSERT_TRUE(c >= ' ' && c <= '~');
  }
  EXPECT_GT(refusals, copies / 10);
  EXPECT_LT(refusals, copies);
}

}  // namespace meterbank::arbiter
