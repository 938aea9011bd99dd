// SPDX-License-Identifier: Apache-2.0
//
//   path_seeds DIRECTORY
//
// Writes a path of each form, as inputs to begin with.
#include <array>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr std::array kPaths{R"(\Set\Counter)",
                              R"(\Set(instance)\Counter)",
                              R"(\Set(instance#2)\Counter)",
                              R"(\Set(parent/instance)\Counter)",
                              R"(\Set(C:\)\[x])",
                              R"(\\web@17\Set(*#*)\Bytes/sec)",
                              "set",
                              "set/x#3",
                              "set/instance#0/counter",
                              R"(p\:q@4:s\:t/u:v/w\*x\?)",
                              R"(:\*set/c)"};
  int number = 0;
  for (const char* const path : kPaths) {
    std::ofstream(std::string(argv[1]) + "/path-" + std::to_string(number++)) << path;
  }
  return 0;
}
