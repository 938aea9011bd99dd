// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/format/listing.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/pmu/actions.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/pmu/look/arbiter_rows.hpp"
#include "cli/pmu/look/show_listing.hpp"
#include "meterbank/base/clock.hpp"

namespace meterbank::cli {
namespace {

// In how long; of a moment that is over: now.
Cell until_cell(std::uint64_t ends_ns, std::uint64_t now_ns) {
  if (ends_ns == 0) return Cell::absent();
  const double seconds = ends_ns > now_ns ? static_cast<double>(ends_ns - now_ns) / 1e9 : 0.0;
  return Cell::number(seconds, "in " + print_duration(seconds));
}

std::string label_of(const ArbiterRow& row) {
  std::string label = row.text("label");
  if (const auto tag = row.number("tag"); tag != 0) {
    label += fmt::format("{}#{:x}", label.empty() ? "" : " ", tag);
  }
  return label;
}

class LeaseListing {
 public:
  explicit LeaseListing(bool is_verbose)
      : listing_({{"CPU", "cpus"},
                  {"COUNTERS", "counters"},
                  {"HOLDER", "holder"},
                  {"SINCE", "since_s", Align::kRight},
                  {"STATE", "state", Align::kLeft, !is_verbose},
                  {"PMU", "pmu", Align::kLeft, !is_verbose},
                  {"QUALITY", "quality", Align::kLeft, !is_verbose},
                  {is_verbose ? "GRADE" : "", "grade"},
                  {is_verbose ? "CLASS" : "", "priority"},
                  {is_verbose ? "ENDS" : "", "ends_s", Align::kRight},
                  {is_verbose ? "TOKEN" : "", "token"},
                  {"", "pid"},
                  {"", "uid"},
                  {"", "position"},
                  {"TAG", "tag"}}) {}

  void add_lease(const ArbiterRow& row) {
    listing_.add({Cell::text(row.text("cpus")), Cell::text(row.text("counters")), holder(row),
                  since_cell(row.number("since_ns"), now_ns_), Cell::text(row.text("state")),
                  Cell::text(row.text("pmu")), Cell::text(row.text("quality")),
                  Cell::text(row.text("grade")), Cell::text(row.text("priority")),
                  until_cell(row.number("ends_ns"), now_ns_),
                  Cell::text(token_text(row.number("token"))), Cell::number(row.number("pid")),
                  Cell::number(row.number("uid")), Cell::absent(), Cell::text(label_of(row))});
  }

  void add_waiter(const ArbiterRow& row) {
    const std::uint64_t position = row.number("position") + 1;
    listing_.add(
        {Cell::text(row.text("cpus")), Cell::text(fmt::format("waits, place {}", position), ""),
         holder(row), since_cell(row.number("since_ns"), now_ns_), Cell::text("queued"),
         Cell::text(row.text("pmu")), Cell::absent(), Cell::absent(),
         Cell::text(row.text("priority")), until_cell(row.number("gives_up_ns"), now_ns_),
         Cell::text(token_text(row.number("token"))), Cell::number(row.number("pid")),
         Cell::number(row.number("uid")), Cell::number(position), Cell::text(label_of(row))});
  }

  void add_outsider(const ArbiterRow& row) {
    const auto count = row.number("counters");
    const auto pid = row.number("pid");
    const std::string counters = count == 0 ? "?" : counted(count, "counter");
    const std::string cpus = row.text("cpus");
    listing_.add({Cell::text(cpus.empty() ? "?" : cpus, cpus),
                  Cell::text(counters, count == 0 ? "" : fmt::format("{} of any", count)),
                  Cell::text(holder_text(row.text("name"), pid), row.text("name")),
                  since_cell(row.number("first_ns"), now_ns_),
                  Cell::text(pid == 0 ? "kernel" : "foreign"), Cell::text(row.text("pmu")),
                  Cell::absent(), Cell::absent(), Cell::absent(), Cell::absent(), Cell::absent(),
                  Cell::number(pid), Cell::number(row.number("uid")), Cell::absent(),
                  Cell::text(fmt::format("(no lease; seen in {})", row.text("how")), "")});
  }

  [[nodiscard]] const Listing& listing() const noexcept { return listing_; }

 private:
  static Cell holder(const ArbiterRow& row) {
    return Cell::text(holder_text(row.text("holder"), row.number("pid")), row.text("holder"));
  }

  Listing listing_;
  std::uint64_t now_ns_ = clock_ns(CLOCK_MONOTONIC);
};

void sort_for_reading(std::vector<ArbiterRow>& rows, std::string_view by) {
  std::stable_sort(rows.begin(), rows.end(), [by](const ArbiterRow& a, const ArbiterRow& b) {
    return a.number(by) < b.number(by);
  });
}

}  // namespace

int pmu_leases(const Invocation& invocation, Console& console) {
  // The rows alone would do; but an arbiter that is not there has no leases, and a dead one leaves
  // its rows.
  const auto connection = connect_to_arbiter(invocation);
  if (!connection) return report_error(console, connection.error());
  auto rows = read_arbiter_rows(arbiter_directory(invocation));
  if (!rows) return report_error(console, rows.error());
  LeaseListing listing(invocation.verbose);
  auto& leases = (*rows)["pmu_lease"];
  sort_for_reading(leases, "since_ns");
  for (const auto& row : leases) listing.add_lease(row);
  if (invocation.pmu.queue) {
    auto& waiters = (*rows)["pmu_waiter"];
    sort_for_reading(waiters, "position");
    for (const auto& row : waiters) listing.add_waiter(row);
  }
  for (const auto& row : (*rows)["pmu_outsider"]) listing.add_outsider(row);
  return show_listing(invocation, console, listing.listing(),
                      "no leases, and no other user of counters was seen\n");
}

}  // namespace meterbank::cli
