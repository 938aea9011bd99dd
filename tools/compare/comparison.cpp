// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <variant>

#include "compare/events.hpp"

namespace meterbank::compare {
namespace {

constexpr std::array kPercentiles{50.0, 90.0, 99.0, 99.9};

std::string percentile_text(double percent) {
  return percent == 99.9 ? "99.9" : std::to_string(static_cast<int>(percent));
}

NotCompared reason_of(NoContrast why) {
  switch (why) {
    case NoContrast::kTooFewSamples:
      return NotCompared::kTooFewSamples;
    case NoContrast::kWanders:
      return NotCompared::kWanders;
    case NoContrast::kTooFewValues:
      return NotCompared::kTooFewValues;
    case NoContrast::kBeyondBuckets:
      return NotCompared::kBeyondBuckets;
  }
  return NotCompared::kNoValues;
}

bool is_alike(const CounterView& a, const CounterView& b) {
  return a.type == b.type && a.unit == b.unit && a.form == b.form && a.scale == b.scale;
}

// Whose digits mean something, and whose mean does not.
bool is_identifier(CounterType type) {
  return type == CounterType::kRawCountHex || type == CounterType::kLargeRawCountHex;
}

class Comparer {
 public:
  Comparer(const Observation& a, const Observation& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  Comparison compare() {
    find_events(a_, b_, comparison_.findings);
    for (const auto& [key, series] : sorted(a_)) {
      const auto other = b_.by_key().find(key);
      if (other == b_.by_key().end()) {
        skip(*series, NotCompared::kOnlyInA);
      } else {
        compare_series(*series, *other->second);
      }
    }
    for (const auto& [key, series] : sorted(b_)) {
      if (!a_.by_key().contains(key)) skip(*series, NotCompared::kOnlyInB);
    }
    judge();
    order();
    return std::move(comparison_);
  }

 private:
  struct Open {
    Finding finding;
    std::variant<MeanContrast, QuantileContrast> contrast;
  };

  static Finding about(const Series& series, FindingKind kind) {
    Finding finding;
    finding.kind = kind;
    finding.path = series.path;
    finding.provider = Observation::provider_of(series.set_key);
    finding.series = &series;
    return finding;
  }

  static std::map<std::string, const Series*> sorted(const Observation& observation) {
    return {observation.by_key().begin(), observation.by_key().end()};
  }

  void skip(const Series& series, NotCompared reason) {
    skip(about(series, FindingKind::kNumber), reason);
  }
  void skip(Finding&& finding, NotCompared reason) {
    comparison_.skipped.push_back({std::move(finding.path), std::move(finding.provider), reason});
  }

  void compare_series(const Series& a, const Series& b) {
    if (a.has_namesakes || b.has_namesakes) return skip(a, NotCompared::kNamesakes);
    if (!is_alike(a.counter, b.counter)) {
      Finding finding = about(a, FindingKind::kSchema);
      finding.what = a.counter.unit != b.counter.unit ? "unit" : "type";
      if (finding.what == "unit") {
        finding.text_a = a.counter.unit;
        finding.text_b = b.counter.unit;
      }
      finding.is_changed = true;
      comparison_.findings.push_back(std::move(finding));
      return;
    }
    if (!a.texts.seen.empty() && !b.texts.seen.empty()) return compare_texts(a, b);
    if (a.numbers.values() == 0 || b.numbers.values() == 0) {
      return skip(a, too_short() ? NotCompared::kTooFewSamples : NotCompared::kNoValues);
    }
    compare_numbers(a, b);
    if (a.values && b.values) compare_percentiles(a, b);
  }

  [[nodiscard]] bool too_short() const {
    return std::min(a_.samples(), b_.samples()) <= kBlocksNeeded;
  }

  void compare_texts(const Series& a, const Series& b) {
    const auto is_in_a = [&](const std::string& text) { return a.texts.contains(text); };
    const bool share = std::any_of(b.texts.seen.begin(), b.texts.seen.end(), is_in_a);
    if (!share && (a.texts.varies || b.texts.varies)) {
      return skip(a, NotCompared::kTextVaries);
    }
    Finding finding = about(a, FindingKind::kText);
    finding.what = "text";
    finding.text_a = a.texts.seen.back();
    finding.text_b = b.texts.seen.back();
    finding.is_changed = !share;
    comparison_.findings.push_back(std::move(finding));
  }

  void compare_numbers(const Series& a, const Series& b) {
    Finding finding = about(a, FindingKind::kNumber);
    finding.a = a.numbers.mean();
    finding.b = b.numbers.mean();
    const bool stood_still = a.numbers.stood_still() && b.numbers.stood_still();
    const bool few = std::min(a.numbers.values(), b.numbers.values()) < kBlocksNeeded;
    if (few) return skip(a, NotCompared::kTooFewSamples);
    if (stood_still) {
      finding.kind = FindingKind::kStill;
      finding.what = "still";
      const bool differs = finding.a != finding.b;
      const double middle = differs ? relative_change(finding.a, finding.b) : 0;
      finding.change = {middle, middle, middle};
      finding.is_changed = differs && std::abs(middle) >= options_.least;
      comparison_.findings.push_back(std::move(finding));
      return;
    }
    if (is_identifier(a.counter.type)) return skip(a, NotCompared::kTextVaries);
    // A window of reading moves the ends of a rate, and no stamp.
    const bool is_rate = a.weight == Weight::kTime || a.weight == Weight::kPerSecond;
    const auto slack = [&](const Series& series, const Observation& of) {
      return is_rate && !series.is_stamped ? of.slack() : 0.0;
    };
    keep(std::move(finding), MeanContrast::of(a.numbers, b.numbers, slack(a, a_), slack(b, b_)));
  }

  void compare_percentiles(const Series& a, const Series& b) {
    if (a.changed_shape || b.changed_shape) return;
    for (const double percentile : kPercentiles) {
      Finding finding = about(a, FindingKind::kNumber);
      finding.path += ".p" + percentile_text(percentile);
      finding.percentile = percentile;
      const auto contrast = QuantileContrast::of(*a.values, *b.values, percentile / 100);
      if (const auto* const found = std::get_if<QuantileContrast>(&contrast)) {
        finding.a = found->a();
        finding.b = found->b();
      }
      keep(std::move(finding), contrast);
    }
  }

  template <typename Contrast>
  void keep(Finding finding, std::variant<Contrast, NoContrast> contrast) {
    if (const auto* const why = std::get_if<NoContrast>(&contrast)) {
      return skip(std::move(finding), reason_of(*why));
    }
    open_.push_back({std::move(finding), std::get<Contrast>(std::move(contrast))});
  }

  // Only now it is known how many tests there are.
  void judge() {
    const auto tests = static_cast<double>(std::max<std::size_t>(open_.size(), 1));
    CriticalT critical(options_.false_alarms / tests);
    comparison_.tested = open_.size();
    for (Open& one : open_) {
      const auto change = change_of(one, critical);
      if (!change) {
        skip(std::move(one.finding), NotCompared::kTooFewValues);
        continue;
      }
      one.finding.change = *change;
      one.finding.is_changed = change->is_certain() && std::abs(change->middle) >= options_.least;
      comparison_.findings.push_back(std::move(one.finding));
    }
  }

  static std::optional<Change> change_of(const Open& one, CriticalT& critical) {
    if (const auto* const mean = std::get_if<MeanContrast>(&one.contrast)) {
      return mean->change(critical);
    }
    return std::get<QuantileContrast>(one.contrast).change(critical);
  }

  void order() {
    std::stable_sort(comparison_.findings.begin(), comparison_.findings.end(),
                     [](const Finding& left, const Finding& right) {
                       if (left.is_changed != right.is_changed) return left.is_changed;
                       if (left.kind != right.kind && !(is_number(left) && is_number(right))) {
                         return left.kind < right.kind;
                       }
                       return left.strength() > right.strength();
                     });
  }
  static bool is_number(const Finding& finding) {
    return finding.kind == FindingKind::kNumber || finding.kind == FindingKind::kStill;
  }

  const Observation& a_;
  const Observation& b_;
  const CompareOptions& options_;
  std::vector<Open> open_;
  Comparison comparison_;
};

}  // namespace

double Finding::strength() const {
  if (change.is_certain()) return change.low > 0 ? change.low : -change.high;
  return 0;
}

std::string_view phrase_of(NotCompared reason) noexcept {
  switch (reason) {
    case NotCompared::kTooFewSamples:
      return "too few samples";
    case NotCompared::kWanders:
      return "too slow for this length";
    case NotCompared::kTooFewValues:
      return "too few values";
    case NotCompared::kBeyondBuckets:
      return "beyond the buckets";
    case NotCompared::kNoValues:
      return "no values";
    case NotCompared::kNamesakes:
      return "several providers of one name";
    case NotCompared::kTextVaries:
      return "text or identifier varies";
    case NotCompared::kOnlyInA:
      return "only in A";
    case NotCompared::kOnlyInB:
      return "only in B";
  }
  return "";
}

std::string_view name_of(NotCompared reason) noexcept {
  switch (reason) {
    case NotCompared::kTooFewSamples:
      return "too-few-samples";
    case NotCompared::kWanders:
      return "too-slow";
    case NotCompared::kTooFewValues:
      return "too-few-values";
    case NotCompared::kBeyondBuckets:
      return "beyond-buckets";
    case NotCompared::kNoValues:
      return "no-values";
    case NotCompared::kNamesakes:
      return "namesakes";
    case NotCompared::kTextVaries:
      return "text-varies";
    case NotCompared::kOnlyInA:
      return "only-in-a";
    case NotCompared::kOnlyInB:
      return "only-in-b";
  }
  return "";
}

std::size_t Comparison::changed() const {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [](const Finding& one) { return one.is_changed; }));
}

std::size_t Comparison::count(NotCompared reason) const {
  return static_cast<std::size_t>(std::count_if(
      skipped.begin(), skipped.end(), [&](const Skipped& one) { return one.reason == reason; }));
}

Comparison compare(const Observation& a, const Observation& b, const CompareOptions& options) {
  return Comparer(a, b, options).compare();
}

}  // namespace meterbank::compare
