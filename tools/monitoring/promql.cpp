// SPDX-License-Identifier: Apache-2.0
#include "monitoring/promql.hpp"

#include <fmt/format.h>

namespace meterbank::monitoring {
namespace {

std::string joined_rate(std::string_view join, std::string_view sample, const Scope& scope) {
  const std::string by = scope.by.empty() ? std::string() : fmt::format(" by ({})", scope.by);
  return fmt::format("{}{} (rate({}{}[{}]))", join, by, sample, scope.selector, scope.window);
}

}  // namespace

std::string rate_of(const MonitoredFamily& counter, const Scope& scope) {
  return joined_rate("sum", counter.metric.full_name(), scope);
}

std::string busy_share_of(const MonitoredFamily& counter, const Scope& scope) {
  return "1 - " + joined_rate("avg", counter.metric.full_name(), scope);
}

std::string ratio_of(const MonitoredFamily& hits, const MonitoredFamily& base, const Scope& scope) {
  return rate_of(hits, scope) + " / " + rate_of(base, scope);
}

std::string mean_of(const MonitoredFamily& summary, const Scope& scope) {
  return joined_rate("sum", summary.metric.name + "_sum", scope) + " / " +
         joined_rate("sum", summary.metric.name + "_count", scope);
}

std::string percentile_of(const MonitoredFamily& histogram, unsigned percent, const Scope& scope) {
  return fmt::format("histogram_quantile(0.{:02}, {})", percent, buckets_of(histogram, scope));
}

std::string observations_of(const MonitoredFamily& histogram, const Scope& scope) {
  return fmt::format("histogram_count({})", buckets_of(histogram, scope));
}

std::string buckets_of(const MonitoredFamily& histogram, const Scope& scope) {
  return joined_rate("sum", histogram.metric.name, scope);
}

std::string sample_of(const MonitoredFamily& family) {
  const bool is_summary = family.metric.type == exposition::FamilyType::kSummary;
  return is_summary ? family.metric.name + "_count" : family.metric.full_name();
}

}  // namespace meterbank::monitoring
