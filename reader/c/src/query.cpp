// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <limits>

#include "objects.hpp"

namespace meterbank::border {

constinit HandleTable<HeldQuery> queries("query");

namespace {

static_assert(MB_CUT_NONE == static_cast<int>(Cut::kNone));
static_assert(MB_CUT_TRY == static_cast<int>(Cut::kTry));
static_assert(MB_CUT_EPOCH == static_cast<int>(Cut::kEpoch));
static_assert(MB_ROW_CUT_PER_BLOCK == static_cast<int>(CutQuality::kPerBlock));
static_assert(MB_ROW_CUT_CUT == static_cast<int>(CutQuality::kCut));
static_assert(MB_ROW_CUT_EXACT == static_cast<int>(CutQuality::kExact));

Outcome<std::vector<std::string>> read_list(const char* const* texts, std::size_t count,
                                            std::string_view name) {
  std::vector<std::string> list;
  if (texts == nullptr && count != 0) return refuse_null(name);
  list.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    if (texts[index] == nullptr) {
      return refuse_null(std::string(name) + "[" + std::to_string(index) + "]");
    }
    list.emplace_back(texts[index]);
  }
  return list;
}

std::chrono::nanoseconds timeout_of(std::uint64_t nanoseconds) noexcept {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(nanoseconds, kMost)));
}

mb_collected collected_of(const CollectSummary& summary, Timestamp time) noexcept {
  mb_collected collected = MB_COLLECTED_INIT;
  collected.is_stale = summary.stale ? 1 : 0;
  collected.rows = summary.rows;
  collected.not_fresh = summary.not_fresh;
  collected.unanswered = summary.unanswered;
  collected.monotonic_ns = time.monotonic_ns;
  collected.realtime_ns = time.realtime_ns;
  collected.cut = static_cast<std::uint32_t>(summary.cut);
  return collected;
}

std::uint32_t number_of(recording::Coverage coverage) noexcept {
  switch (coverage) {
    case recording::Coverage::kAll:
      return MB_COVERAGE_ALL;
    case recording::Coverage::kSome:
      return MB_COVERAGE_SOME;
    case recording::Coverage::kNone:
      break;
  }
  return MB_COVERAGE_NONE;
}

// `collect(query, sample, cut)` is how, if the query is about now.
template <typename Collect>
mb_status collect_into(mb_query* query, mb_sample* sample, mb_cut cut, mb_collected* collected,
                       mb_error* error, Collect collect) noexcept {
  return cross(error, [&]() -> Outcome<void> {
    if (collected != nullptr) {
      if (auto good = can_fill(collected, "mb_collected"); !good) return good;
    }
    if (cut < MB_CUT_NONE || cut > MB_CUT_EPOCH) {
      return refuse(MB_INVALID_ARGUMENT, "cut is not of mb_cut");
    }
    return with(queries, query, [&](HeldQuery& held_query) {
      return with(samples, sample, [&](HeldSample& held) -> Outcome<void> {
        ++held.collections;
        const CollectSummary summary =
            held_query.moment ? held_query.query.collect(held.sample, held_query.moment->time)
                              : collect(held_query.query, held.sample, static_cast<Cut>(cut));
        if (summary.no_memory) return tl::make_unexpected(Refusal(out_of_memory()));
        if (collected == nullptr) return {};
        mb_collected filled = collected_of(summary, held.sample.time);
        if (held_query.moment) filled.coverage = number_of(held_query.moment->coverage);
        fill_struct(collected, filled);
        return {};
      });
    });
  });
}

}  // namespace
}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_query_compile(mb_catalog* catalog, const char* const* paths, size_t path_count,
                           const char* const* excluded, size_t excluded_count, mb_query** query,
                           mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear_handle(query, "query"); !good) return good;
    const auto wanted = read_list(paths, path_count, "paths");
    if (!wanted) return tl::make_unexpected(wanted.error());
    const auto unwanted = read_list(excluded, excluded_count, "excluded");
    if (!unwanted) return tl::make_unexpected(unwanted.error());
    return with(catalogs, catalog, [&](HeldCatalog& held) -> Outcome<void> {
      auto compiled = Query::compile(held.catalog(), *wanted, *unwanted);
      if (!compiled) return tl::make_unexpected(compiled.error());
      auto held_query = std::make_shared<HeldQuery>(std::move(*compiled));
      held_query->look_at(held);
      *query = handle_of<mb_query>(queries.insert(std::move(held_query)));
      return {};
    });
  });
}

void mb_query_close(mb_query* query) { close_handle(queries, query); }

mb_status mb_query_update(mb_query* query, mb_catalog* catalog, int* changed, mb_error* error) {
  return cross(error, [&] {
    return with(queries, query, [&](HeldQuery& held_query) {
      return with(catalogs, catalog, [&](HeldCatalog& held) -> Outcome<void> {
        const bool is_changed = held_query.query.update(held.catalog());
        held_query.look_at(held);
        if (changed != nullptr) *changed = is_changed ? 1 : 0;
        return {};
      });
    });
  });
}

mb_status mb_query_unmatched(mb_query* query, size_t index, mb_unmatched* unmatched,
                             mb_error* error) {
  return cross(error, [&] {
    return with(queries, query, [&](const HeldQuery& held) -> Outcome<void> {
      if (auto good = can_fill(unmatched, "mb_unmatched"); !good) return good;
      const std::vector<Unmatched>& all = held.query.unmatched();
      if (index >= all.size()) return refuse(MB_NOT_FOUND, "no more paths");
      mb_unmatched filled = MB_UNMATCHED_INIT;
      filled.path = all[index].pattern.c_str();
      filled.part = all[index].part.c_str();
      filled.suggestion = all[index].suggestion.c_str();
      fill_struct(unmatched, filled);
      return {};
    });
  });
}

mb_status mb_query_collect(mb_query* query, mb_sample* sample, mb_cut cut, mb_collected* collected,
                           mb_error* error) {
  return collect_into(
      query, sample, cut, collected, error,
      [](Query& held, Sample& target, Cut wanted) { return held.collect(target, wanted); });
}

mb_status mb_query_ask(mb_query* query, mb_sample* sample, uint64_t timeout_ns, mb_cut cut,
                       mb_collected* collected, mb_error* error) {
  return collect_into(query, sample, cut, collected, error,
                      [&](Query& held, Sample& target, Cut wanted) {
                        return held.collect(target, timeout_of(timeout_ns), wanted);
                      });
}
