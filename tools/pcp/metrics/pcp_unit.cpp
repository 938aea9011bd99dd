// SPDX-License-Identifier: Apache-2.0
#include "pcp/metrics/pcp_unit.hpp"

#include <array>
#include <cmath>

#include "units/base_unit.hpp"

namespace meterbank::pcp {
namespace {

// One of a scale is factor / divisor of the base unit.
struct Scale {
  unsigned scale;
  double factor, divisor;
};
constexpr double kKibi = 1024;
constexpr std::array kSpaces{Scale{PM_SPACE_GBYTE, kKibi* kKibi* kKibi, 1},
                             Scale{PM_SPACE_MBYTE, kKibi* kKibi, 1},
                             Scale{PM_SPACE_KBYTE, kKibi, 1}, Scale{PM_SPACE_BYTE, 1, 1}};
constexpr std::array kTimes{Scale{PM_TIME_HOUR, 3600, 1}, Scale{PM_TIME_MIN, 60, 1},
                            Scale{PM_TIME_SEC, 1, 1},     Scale{PM_TIME_MSEC, 1, 1e3},
                            Scale{PM_TIME_USEC, 1, 1e6},  Scale{PM_TIME_NSEC, 1, 1e9}};
// "MHz" is one a microsecond.
constexpr std::array kFrequencies{Scale{PM_TIME_USEC, 1e6, 1}, Scale{PM_TIME_MSEC, 1e3, 1},
                                  Scale{PM_TIME_SEC, 1, 1}};

// How many of the scale one of factor / divisor is; 0: not a whole number.
std::uint64_t count_of(const Scale& scale, double factor, double divisor) noexcept {
  const double count = factor * scale.divisor / (divisor * scale.factor);
  constexpr double kWholeMax = 1e15;
  const bool is_whole = count >= 1 && count < kWholeMax && count == std::floor(count);
  return is_whole ? static_cast<std::uint64_t>(count) : 0;
}

// The largest scale that makes whole numbers of whole numbers.
template <typename Scales>
std::uint64_t choose(const Scales& scales, double factor, double divisor,
                     unsigned& scale) noexcept {
  for (const Scale& candidate : scales) {
    const std::uint64_t count = count_of(candidate, factor, divisor);
    if (count == 0) continue;
    scale = candidate.scale;
    return count;
  }
  return 0;
}

bool is_annotation(std::string_view unit) noexcept {
  return unit.size() > 2 && unit.front() == '{' && unit.back() == '}';
}

}  // namespace

PcpUnit pcp_unit_of(std::string_view base, double factor, double divisor, bool counts) {
  PcpUnit unit;
  const std::string_view rate = per_second(base);
  const std::string_view what = base.substr(0, base.size() - rate.size());
  unsigned scale = 0;
  if (!rate.empty()) {
    unit.units.dimTime = -1;
    unit.units.scaleTime = PM_TIME_SEC;
  }
  if (what == "By") {
    unit.multiple = choose(kSpaces, factor, divisor, scale);
    unit.units.dimSpace = 1;
    unit.units.scaleSpace = unit.multiple == 0 ? PM_SPACE_BYTE : scale & 0xfU;
    return unit;
  }
  if (what == "s" && rate.empty()) {
    unit.multiple = choose(kTimes, factor, divisor, scale);
    unit.units.dimTime = 1;
    unit.units.scaleTime = unit.multiple == 0 ? PM_TIME_SEC : scale & 0xfU;
    return unit;
  }
  if (what == "Hz" && rate.empty()) {
    unit.multiple = choose(kFrequencies, factor, divisor, scale);
    unit.units.dimTime = -1;
    unit.units.scaleTime = unit.multiple == 0 ? PM_TIME_SEC : scale & 0xfU;
    return unit;
  }
  unit.multiple = count_of(Scale{0, 1, 1}, factor, divisor);
  const bool is_number = what.empty() || what == "1";
  if (is_annotation(what) || (is_number && (counts || !rate.empty()))) {
    unit.units.dimCount = 1;
    return unit;
  }
  unit.says_all = is_number;
  if (!is_number) unit.units = {};
  return unit;
}

}  // namespace meterbank::pcp
