// SPDX-License-Identifier: Apache-2.0
//
// A reader as small as one can be, three rounds of it, and a report of what it saw:
//
//   row SET INSTANCE LEVEL      of the sets of the healthy provider, from the healthy provider
//   total LEVEL BY              of its venues; BY: patterns, items
//   mapped BYTES                of all providers together
//   state=... error=... rows=N left_out=N skipped=N lost_rows=N
//
// The last line is about everything but the healthy provider: it proves that an attack takes place.
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include "../../../support/cooked_values.hpp"
#include "healthy.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::hostile {
namespace {

// What is said of a round; the last one is printed.
struct Report {
  std::set<std::string> rows;
  std::set<std::string> others;
};

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

bool is_level(const test::KeptValue& row) {
  return row.counter->symbol == "level" && row.set().symbol.starts_with("healthy_");
}

void report_patterns(const std::vector<test::KeptValue>& cooked, Report& report) {
  std::uint64_t lost = 0, others = 0;
  for (const test::KeptValue& row : cooked) {
    const bool is_healthy = row.provider().name == kHealthyName;
    if (!is_healthy) ++others;
    if (!is_healthy && !holds_values(row.status())) ++lost;
    if (!is_level(row)) continue;
    const RegisteredSet& set = *row.row->registered;
    if (row.instance().id == kTotalInstanceId || row.row->is_total) {
      report.rows.insert("total " + number(row.cooked.value) + " patterns");
    } else if (is_healthy && has_value(row.cooked.status)) {
      report.rows.insert("row " + set.set->symbol + " " + std::string(row.instance().name) + " " +
                         number(row.cooked.value));
    }
  }
  report.others.insert("rows=" + std::to_string(others));
  report.others.insert("lost_rows=" + std::to_string(lost));
}

void report_items(const std::vector<test::KeptValue>& cooked, Report& report) {
  for (const test::KeptValue& row : cooked) {
    if (row.instance().id != kTotalInstanceId || row.counter->symbol != "level") continue;
    report.rows.insert("total " + number(row.cooked.value) + " items");
  }
}

void report_providers(const Catalog& catalog, Report& report) {
  std::uint64_t mapped = 0, left_out = 0;
  for (const auto& provider : catalog.providers()) {
    mapped += provider->bytes;
    const bool is_healthy =
        provider->name == kHealthyName && is_alive(provider->state) && provider->sets.size() == 3;
    if (is_healthy) continue;
    report.others.insert("state=" + std::string(name_of(provider->state)));
    left_out += provider->errors.size();
    if (!provider->error.what.empty()) {
      report.others.insert("error=" + std::string(name_of(provider->error.code)));
    }
  }
  report.rows.insert("mapped " + std::to_string(mapped));
  report.others.insert("left_out=" + std::to_string(left_out));
  report.others.insert("skipped=" + std::to_string(catalog.skipped()));
}

int read_three_times() {
  auto catalog = Catalog::open({});
  if (!catalog) {
    std::fprintf(stderr, "%s\n", catalog.error().message().c_str());
    return 3;
  }
  auto query = Query::compile(*catalog, {});
  // Totals are asked for by name: a query of everything shows the rows alone.
  auto totals = Query::compile(*catalog, {"healthy_venues/_Total/level"});
  if (!query || !totals) return 3;
  ItemQuery items = ItemQuery::compile(*catalog, {{.set = kHealthyVenues.guid, .counter_id = 1}});
  Sample sample, totals_sample, items_sample;
  Report report;
  for (int round = 0; round < 3; ++round) {
    report = {};
    catalog->refresh();
    query->update(*catalog);
    totals->update(*catalog);
    items.update(*catalog);
    query->collect(sample, std::chrono::milliseconds(300));
    totals->collect(totals_sample);
    items.collect(items_sample);
    report_patterns(test::cooked_values(nullptr, sample), report);
    Report of_totals;
    report_patterns(test::cooked_values(nullptr, totals_sample), of_totals);
    report.rows.merge(of_totals.rows);
    report_items(test::cooked_values(nullptr, items_sample), report);
    report_providers(*catalog, report);
  }
  for (const std::string& line : report.rows) std::printf("%s\n", line.c_str());
  for (const std::string& word : report.others) std::printf("%s ", word.c_str());
  std::printf("\n");
  return 0;
}

}  // namespace
}  // namespace meterbank::hostile

int main() { return meterbank::hostile::read_three_times(); }
