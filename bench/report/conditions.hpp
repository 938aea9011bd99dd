// SPDX-License-Identifier: Apache-2.0
//
// Where and when a run was made, and how its program was built: the head of the table, and of a
// file of results.
#pragma once

#include <string>

namespace meterbank::bench {

struct Conditions {
  std::string date;       // UTC, "2026-11-21T20:34:51Z"
  std::string processor;  // "AMD EPYC"; "unknown" where /proc/cpuinfo names none
  // Numbers of /proc/cpuinfo, or for AArch64 the implementer and part. "-": not there.
  std::string family = "-", model = "-";
  unsigned vector_bits = 64;  // width of the loads that copy tiles in Query::collect
  unsigned processors = 1;    // online
  std::string kernel;         // name and release
  std::string compiler;       // name and version
  std::string build;          // type and flags

  // Describes this process and its machine.
  static Conditions here();
};

void print(const Conditions& conditions);

}  // namespace meterbank::bench
