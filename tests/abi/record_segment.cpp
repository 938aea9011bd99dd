// SPDX-License-Identifier: Apache-2.0
//
// Prints a segment as this version writes it: segment_MAJOR_MINOR.txt, once for each layout
// version, when a release has it first. Files of earlier versions stay as they are.
#include <cstdio>

#include "recorded_segment.hpp"

int main() {
  const auto words = meterbank::test::record_provider();
  std::printf("%zx\n", words.size());
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (words[at] != 0) {
      std::printf("%zx %llx\n", at, static_cast<unsigned long long>(words[at]));
    }
  }
  return words.empty() ? 1 : 0;
}
