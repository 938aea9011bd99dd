// SPDX-License-Identifier: Apache-2.0
#include "units/base_unit.hpp"

#include <array>
#include <cmath>

namespace meterbank {
namespace {

constexpr double kKibi = 1024;

// What a code means: a base unit and how many of it.
struct Meaning {
  std::string_view code;
  std::string_view base;
  double factor;
};
constexpr std::array kMeanings{Meaning{"10*-2", "1", 0.01},
                               Meaning{"10*-3", "1", 0.001},
                               Meaning{"ns", "s", 1e-9},
                               Meaning{"us", "s", 1e-6},
                               Meaning{"ms", "s", 1e-3},
                               Meaning{"min", "s", 60},
                               Meaning{"h", "s", 3600},
                               Meaning{"d", "s", 86400},
                               Meaning{"kBy", "By", 1e3},
                               Meaning{"MBy", "By", 1e6},
                               Meaning{"KiBy", "By", kKibi},
                               Meaning{"MiBy", "By", kKibi* kKibi},
                               Meaning{"GiBy", "By", kKibi* kKibi* kKibi},
                               Meaning{"MHz", "Hz", 1e6},
                               Meaning{"kHz", "Hz", 1e3}};

}  // namespace

std::string_view per_second(std::string_view unit) noexcept {
  constexpr std::string_view kPerSecond = "/s";
  return unit.ends_with(kPerSecond) ? unit.substr(unit.size() - kPerSecond.size())
                                    : std::string_view{};
}

BaseUnit base_unit_of(std::string_view unit) {
  const auto per = per_second(unit);
  const auto code = unit.substr(0, unit.size() - per.size());
  for (const auto& meaning : kMeanings) {
    if (code != meaning.code) continue;
    // Dividing by a whole number is exact where multiplying by its inverse is not.
    const bool is_part = meaning.factor < 1;
    return {std::string(meaning.base).append(per), is_part ? 1 : meaning.factor,
            is_part ? std::round(1 / meaning.factor) : 1};
  }
  return {std::string(unit)};
}

}  // namespace meterbank
