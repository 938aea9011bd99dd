// SPDX-License-Identifier: Apache-2.0
#include "monitoring/dashboard/unit_ids.hpp"

#include <array>
#include <optional>

namespace meterbank::monitoring {
namespace {

struct UnitId {
  std::string_view ucum, id;
};
constexpr std::array kLevels{UnitId{"s", "s"},           UnitId{"ms", "ms"},
                             UnitId{"us", "\u00b5s"},    UnitId{"ns", "ns"},
                             UnitId{"min", "m"},         UnitId{"h", "h"},
                             UnitId{"d", "d"},           UnitId{"By", "bytes"},
                             UnitId{"KiBy", "kbytes"},   UnitId{"MiBy", "mbytes"},
                             UnitId{"GiBy", "gbytes"},   UnitId{"kBy", "deckbytes"},
                             UnitId{"MBy", "decmbytes"}, UnitId{"GBy", "decgbytes"},
                             UnitId{"bit", "bits"},      UnitId{"%", "percent"},
                             UnitId{"Hz", "hertz"},      UnitId{"V", "volt"},
                             UnitId{"A", "amp"},         UnitId{"J", "joule"},
                             UnitId{"W", "watt"},        UnitId{"m", "lengthm"},
                             UnitId{"g", "massg"},       UnitId{"Cel", "celsius"},
                             UnitId{"K", "kelvin"},      UnitId{"By/s", "binBps"},
                             UnitId{"bit/s", "binbps"},  UnitId{"{request}/s", "reqps"}};
// Of something a second.
constexpr std::array kRates{
    UnitId{"By", "binBps"},       UnitId{"bit", "binbps"},   UnitId{"J", "watt"},
    UnitId{"{request}", "reqps"}, UnitId{"{packet}", "pps"}, UnitId{"{operation}", "ops"},
    UnitId{"{read}", "rps"},      UnitId{"{write}", "wps"},  UnitId{"", "cps"},
    UnitId{"s", "percentunit"},   UnitId{"1", "cps"}};

template <typename Table>
std::optional<std::string_view> find(const Table& table, std::string_view ucum) {
  for (const UnitId& unit : table) {
    if (unit.ucum == ucum) return unit.id;
  }
  return std::nullopt;
}

PanelUnit rate_unit(const std::string& ucum) {
  if (const auto id = find(kRates, ucum)) return {*id, {}};
  return {"short", ucum + "/s"};
}

PanelUnit level_unit(const exposition::NamedFamily& metric) {
  // A level in per cent is served as a ratio.
  if (metric.ucum == "1" && metric.unit == "ratio") return {"percentunit", {}};
  if (metric.ucum.empty() || metric.ucum == "1") return {"short", {}};
  if (const auto id = find(kLevels, metric.ucum)) return {*id, {}};
  return {"short", metric.ucum};
}

}  // namespace

PanelUnit panel_unit_of(const MonitoredFamily& family) {
  switch (family.meaning) {
    case Meaning::kRate:
    case Meaning::kBase:
      return rate_unit(family.metric.ucum);
    case Meaning::kBusyShare:
    case Meaning::kIdleShare:
    case Meaning::kHits:
    case Meaning::kShare:
      return {"percentunit", {}};
    case Meaning::kQueueLength:
      return {"short", {}};
    case Meaning::kStartTime:
      return {"dateTimeAsIso", {}};
    case Meaning::kMean:
    case Meaning::kSpread:
    case Meaning::kLevel:
    case Meaning::kText:
      break;
  }
  return level_unit(family.metric);
}

}  // namespace meterbank::monitoring
