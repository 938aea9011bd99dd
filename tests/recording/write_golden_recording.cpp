// SPDX-License-Identifier: Apache-2.0
//
//   write_golden_recording FILE
//
// Writes golden/v1.mbr as this version does. golden_test.cpp says when that is right.
#include <fstream>

#include "golden_recording.hpp"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::ofstream file(arguments[1], std::ios::binary);
  file << meterbank::test::golden_recording();
  return file.flush() ? 0 : 1;
}
