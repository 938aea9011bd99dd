// SPDX-License-Identifier: Apache-2.0
#include "report/conditions.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string_view>

#include "../../tests/support/sweep_width.hpp"

namespace meterbank::bench {
namespace {

// Fields of the first processor in /proc/cpuinfo.
void read_cpuinfo(Conditions& conditions) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::size_t begin = line.find_first_not_of(' ', colon + 1);
    const std::string value = begin == std::string::npos ? "" : line.substr(begin);
    if (key == "model name") conditions.processor = value;
    if (key == "cpu family" || key == "CPU implementer") conditions.family = value;
    if (key == "model" || key == "CPU part") conditions.model = value;
  }
  if (conditions.processor.empty()) conditions.processor = "unknown";
}

unsigned bits_of_widest_sweep() noexcept {
  switch (widest_sweep()) {
    case SweepWidth::kEightWords:
      return 512;
    case SweepWidth::kFourWords:
      return 256;
    case SweepWidth::kOneWord:
      break;
  }
  return 64;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[sizeof "2026-11-21T20:34:51Z+more"] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string kernel_release() {
  utsname names = {};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {}", names.sysname, names.release);
}

constexpr std::string_view compiler_version() noexcept {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

Conditions Conditions::here() {
  Conditions conditions;
  conditions.date = utc_now();
  read_cpuinfo(conditions);
  conditions.vector_bits = bits_of_widest_sweep();
  conditions.processors = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  conditions.kernel = kernel_release();
  conditions.compiler = compiler_version();
  conditions.build = METERBANK_BENCH_BUILD;
  return conditions;
}

void print(const Conditions& conditions) {
  fmt::print("{}, {}; {}; {}\n", conditions.date, conditions.kernel, conditions.compiler,
             conditions.build);
  fmt::print("{}, family {}, model {}; {} processors; vectors of {} bits\n\n", conditions.processor,
             conditions.family, conditions.model, conditions.processors, conditions.vector_bits);
  std::fflush(stdout);
}

}  // namespace meterbank::bench
