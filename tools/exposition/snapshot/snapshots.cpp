// SPDX-License-Identifier: Apache-2.0
#include "exposition/snapshot/snapshots.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "exposition/page/number.hpp"

namespace meterbank::exposition {

Result<Snapshots> Snapshots::open(SnapshotOptions options) {
  options.catalog.outside_labels = true;
  auto catalog = Catalog::open(options.catalog);
  if (!catalog) return tl::make_unexpected(catalog.error());
  auto query = Query::compile(*catalog, options.patterns);
  if (!query) return tl::make_unexpected(query.error());
  return Snapshots(std::move(options), std::move(*catalog), std::move(*query));
}

Snapshots::Snapshots(SnapshotOptions options, Catalog catalog, Query query)
    : options_(std::move(options)),
      catalog_(std::move(catalog)),
      query_(std::move(query)),
      spare_(std::make_shared<SpareSnapshot>()) {}

std::shared_ptr<const Snapshot> Snapshots::take() {
  // A refresh that failed goes on with what the catalog lists; the next one tries again.
  static_cast<void>(catalog_.refresh());
  const bool has_changed = query_.update(catalog_);
  const std::shared_ptr<Snapshot> snapshot = SpareSnapshot::take(spare_);
  const Timestamp before = Timestamp::now();
  const CollectSummary summary = query_.asks() ? query_.collect(snapshot->sample, options_.timeout)
                                               : query_.collect(snapshot->sample, before);
  if (summary.no_memory) throw std::bad_alloc();
  const Timestamp after = Timestamp::now();
  // Asking may bring other rows each time.
  if (layout_ == nullptr || has_changed || query_.asks()) {
    layout_ = std::make_shared<const PageLayout>(
        make_page_layout(snapshot->sample.selected(), options_.names, starts_, last_look_ns_));
  }
  last_look_ns_ = before.realtime_ns;
  snapshot->layout = layout_;
  snapshot->about = about_providers_.families(catalog_, options_.names.prefix, before.monotonic_ns);
  std::vector<PlainFamily> more =
      about_snapshot(*snapshot, summary, after.monotonic_ns - snapshot->sample.time.monotonic_ns);
  std::move(more.begin(), more.end(), std::back_inserter(snapshot->about));
  return snapshot;
}

std::vector<PlainFamily> Snapshots::about_snapshot(const Snapshot& snapshot,
                                                   const CollectSummary& summary,
                                                   std::uint64_t skew_ns) const {
  std::vector<PlainFamily> about;
  const auto add = [&](std::string_view name, std::string_view unit,
                       std::string_view help) -> std::vector<PlainSeries>& {
    about.push_back({options_.names.prefix + std::string(name),
                     FamilyType::kGauge,
                     std::string(unit),
                     std::string(help),
                     {}});
    return about.back().series;
  };
  add(about_names::kSkew, "seconds", "Time between the first and the last value of this page.")
      .push_back({{}, static_cast<double>(skew_ns) / kNsPerSecond});
  std::array<std::size_t, static_cast<std::size_t>(RowStatus::kUnanswered) + 1> counts{};
  if (summary.not_fresh == 0) {
    counts[static_cast<std::size_t>(RowStatus::kFresh)] = summary.rows;
  } else {
    for (const RowStatus status : snapshot.sample.statuses()) {
      ++counts[static_cast<std::size_t>(status)];
    }
  }
  auto& rows = add(about_names::kRows, "", "Rows of the snapshot by their status.");
  for (std::size_t status = 0; status < counts.size(); ++status) {
    if (counts[status] == 0) continue;
    const auto name = name_of(static_cast<RowStatus>(status));
    rows.push_back({{{"status", std::string(name)}}, static_cast<double>(counts[status])});
  }
  const auto add_number = [&](std::string_view name, std::string_view help, std::size_t number) {
    add(name, "", help).push_back({{}, static_cast<double>(number)});
  };
  add_number(about_names::kRowsLeftOut,
             "Rows left out because others have their labels, or too many sets have one symbol.",
             snapshot.layout->rows_left_out);
  add_number(
      about_names::kRenamed,
      "Metrics that got another name because a metric of a more trusted provider has theirs.",
      snapshot.layout->renamed);
  add_number(about_names::kUnmatched, "Paths of the settings that match no counter.",
             query_.unmatched().size());
  auto& hidden = add(about_names::kProvidersLeftOut, "", "Providers that could not be read.");
  for (const LeftOut& left_out : catalog_.left_out()) {
    if (!hides_providers(left_out.reason)) continue;
    hidden.push_back(
        {{{"uid", std::to_string(left_out.uid)}, {"reason", std::string(name_of(left_out.reason))}},
         static_cast<double>(left_out.count)});
  }
  return about;
}

}  // namespace meterbank::exposition
