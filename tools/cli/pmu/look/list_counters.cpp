// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "cli/format/listing.hpp"
#include "cli/pmu/actions.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/pmu/look/arbiter_rows.hpp"
#include "cli/pmu/look/show_listing.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/reader/suggest.hpp"
#include "meterbank/shm/pmu/ledger_view.hpp"

namespace meterbank::cli {
namespace {

using pmu::CounterState;
using pmu::LedgerPlace;
using pmu::LedgerView;

constexpr std::uint32_t kFixedFirst = 32;  // as in an Item

// "0-3,8"
std::string cpus_text(const std::set<std::uint32_t>& cpus) {
  std::string text;
  for (auto cpu = cpus.begin(); cpu != cpus.end();) {
    auto last = cpu;
    for (auto next = std::next(cpu); next != cpus.end() && *next == *last + 1; ++next) last = next;
    text += fmt::format("{}{}", text.empty() ? "" : ",", *cpu);
    if (last != cpu) text += fmt::format("-{}", *last);
    cpu = std::next(last);
  }
  return text;
}

// ---- list ----

struct PmuSummary {
  std::string name;
  std::set<std::uint32_t> cpus;
  std::uint32_t general = 0, fixed = 0;  // of the CPU that has most
  std::string grade;
  std::array<std::uint64_t, 16> slots{};  // by CounterState, all CPUs together
  std::uint64_t reserved = 0;             // for processes without a lease; in no state above
  std::vector<std::string> outsiders;     // that have events open and no known number of counters

  [[nodiscard]] std::uint64_t of(CounterState state) const {
    return slots.at(static_cast<std::size_t>(state));
  }
  [[nodiscard]] std::uint64_t all() const {
    std::uint64_t sum = reserved;
    for (const auto count : slots) sum += count;
    return sum;
  }
};

std::vector<PmuSummary> summaries_of(const LedgerView& ledger) {
  std::vector<PmuSummary> summaries;
  for (const LedgerPlace& place : ledger.places()) {
    const auto name = pmu::text_of(place.pmu);
    auto found = std::find_if(summaries.begin(), summaries.end(),
                              [&](const PmuSummary& other) { return other.name == name; });
    if (found == summaries.end()) {
      found = summaries.insert(found, PmuSummary());
      found->name = name;
      found->grade = name_of(place.grade);
    }
    found->cpus.insert(place.cpu);
    found->general = std::max<std::uint32_t>(found->general, place.general);
    found->fixed = std::max<std::uint32_t>(found->fixed, place.fixed);
    for (std::uint32_t i = 0; i < std::uint32_t{place.general} + place.fixed; ++i) {
      const auto word = ledger.slot_word(place.first_slot + i);
      const bool is_reserved = (pmu::flags_of(word) & pmu::kSlotReserved) != 0;
      auto& counters =
          is_reserved
              ? found->reserved
              : found->slots.at(static_cast<std::size_t>(pmu::state_of<CounterState>(word)));
      ++counters;
    }
  }
  return summaries;
}

// Events that were opened without asking may need counters or none: the kernel alone knows.
void add_outsiders(std::vector<PmuSummary>& summaries, const std::vector<ArbiterRow>& outsiders) {
  for (const ArbiterRow& row : outsiders) {
    if (row.number("counters") != 0) continue;
    const auto pmu =
        std::find_if(summaries.begin(), summaries.end(),
                     [&](const PmuSummary& summary) { return summary.name == row.text("pmu"); });
    if (pmu == summaries.end()) continue;
    pmu->outsiders.push_back(holder_text(row.text("name"), row.number("pid")));
  }
}

void explain_outsiders(const std::vector<PmuSummary>& summaries, const Console& console) {
  for (const PmuSummary& pmu : summaries) {
    if (pmu.outsiders.empty() || pmu.of(CounterState::kFree) == 0) continue;
    complain(console,
             fmt::format("free counters of {} may be in use by {}, which has no lease; try: "
                         "meterbank pmu probe",
                         pmu.name, fmt::join(pmu.outsiders, ", ")));
  }
}

Cell free_cell(const PmuSummary& pmu) {
  const std::uint64_t free = pmu.of(CounterState::kFree);
  Cell cell = Cell::number(free);
  if (!pmu.outsiders.empty() && free != 0) cell.human = fmt::format("<={}", free);
  return cell;
}

Listing list_pmus(const std::vector<PmuSummary>& summaries) {
  // Rare states have a column if a PMU has counters in them.
  const auto rare = [&](const char* heading, CounterState state) {
    const bool is_there = std::any_of(summaries.begin(), summaries.end(),
                                      [&](const auto& pmu) { return pmu.of(state) > 0; });
    return std::string(is_there ? heading : "");
  };
  const bool has_reserve = std::any_of(summaries.begin(), summaries.end(),
                                       [](const auto& pmu) { return pmu.reserved > 0; });
  Listing listing({{"PMU", "pmu"},
                   {"CPUS", "cpus"},
                   {"EACH", "", Align::kLeft},
                   {"", "general"},
                   {"", "fixed"},
                   {"TOTAL", "counters", Align::kRight},
                   {"FREE", "free", Align::kRight},
                   {"LEASED", "leased", Align::kRight},
                   {"FOREIGN", "foreign", Align::kRight},
                   {has_reserve ? "RESERVED" : "", "reserved", Align::kRight},
                   {"", "unknown_outsiders"},
                   {rare("KERNEL", CounterState::kKernel), "kernel", Align::kRight},
                   {rare("LIMBO", CounterState::kLimbo), "limbo", Align::kRight},
                   {rare("GUARDED", CounterState::kGuarded), "guarded", Align::kRight},
                   {rare("OFFLINE", CounterState::kOffline), "offline", Align::kRight},
                   {rare("BROKEN", CounterState::kBroken), "broken", Align::kRight},
                   {"GRADE", "grade"}});
  for (const auto& pmu : summaries) {
    const auto each = pmu.fixed == 0 ? fmt::format("{}", pmu.general)
                                     : fmt::format("{} + {} fixed", pmu.general, pmu.fixed);
    listing.add(
        {Cell::text(pmu.name), Cell::text(cpus_text(pmu.cpus)), Cell::text(each),
         Cell::number(std::uint64_t{pmu.general}), Cell::number(std::uint64_t{pmu.fixed}),
         Cell::number(pmu.all()), free_cell(pmu),
         Cell::number(pmu.of(CounterState::kLeased) + pmu.of(CounterState::kRevoking)),
         Cell::number(pmu.of(CounterState::kForeign)), Cell::number(pmu.reserved),
         Cell::number(std::uint64_t{pmu.outsiders.size()}),
         Cell::number(pmu.of(CounterState::kKernel)), Cell::number(pmu.of(CounterState::kLimbo)),
         Cell::number(pmu.of(CounterState::kGuarded)), Cell::number(pmu.of(CounterState::kOffline)),
         Cell::number(pmu.of(CounterState::kBroken)), Cell::text(pmu.grade)});
  }
  return listing;
}

// What the kernel lists of a PMU. The arbiter knows these names, those of perf for every processor,
// and those of libpfm where it was built with it.
std::map<std::string, std::string> events_of(const std::string& pmu) {
  std::map<std::string, std::string> events;
  if (pmu == pmu::kBreakpointPmu) {
    events["mem:0xADDRESS[/1|2|4|8][:r|w|rw|x][:u|k]"] = "accesses to memory";
    return events;
  }
  std::error_code none;
  const std::filesystem::path folder = "/sys/bus/event_source/devices/" + pmu + "/events";
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    const auto name = file.path().filename().string();
    // "NAME.unit" and "NAME.scale" are about NAME.
    if (name.find('.') != std::string::npos) continue;
    std::ifstream stream(file.path());
    std::getline(stream, events[name]);
  }
  if (pmu == "cpu" || pmu.starts_with("cpu_") || pmu.starts_with("armv8")) {
    for (const char* const name : {"cycles", "instructions", "cache-references", "cache-misses",
                                   "branches", "branch-misses"}) {
      events.try_emplace(name, "of every processor");
    }
  }
  return events;
}

Listing list_events(const std::vector<PmuSummary>& summaries) {
  Listing listing({{"PMU", "pmu"}, {"EVENT", "event"}, {"TERMS", "terms"}});
  for (const auto& pmu : summaries) {
    for (const auto& [name, terms] : events_of(pmu.name)) {
      listing.add({Cell::text(pmu.name), Cell::text(name), Cell::text(terms)});
    }
  }
  return listing;
}

// Why a request that names no PMU has nothing to choose from.
void explain_no_pmu(pmu::Connection& connection, const Console& console) {
  const auto tried = connection.try_out(pmu::Request());
  complain(console, tried ? "no hardware PMU to lend" : tried.error().message());
}

// ---- who ----

struct Places {
  std::vector<std::uint32_t> cpus;
  std::set<std::uint32_t> counters;  // empty: all
};

Result<std::vector<std::uint32_t>> read_cpus(const std::string& list) {
  pmu::Request request;
  request.cpus(list);
  if (!request.fault().empty()) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a CPU list", list), "0-3,8");
  }
  std::vector<std::uint32_t> cpus;
  for (const auto& group : request.message().groups) {
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      if ((group.mask >> bit & 1) != 0) cpus.push_back(group.group * 64U + bit);
    }
  }
  return cpus;
}

// Without a name any PMU but the breakpoints is meant.
bool is_of(const LedgerPlace& place, const std::string& pmu) {
  const auto name = pmu::text_of(place.pmu);
  return pmu.empty() ? name != pmu::kBreakpointPmu : name == pmu;
}

Result<Places> read_places(const Invocation& invocation, const LedgerView& ledger) {
  Places places;
  for (const std::string& word : invocation.pmu.places) {
    const char sort = word.empty() ? '\0' : word.front();
    if (sort != 'c' && sort != 'f') {
      auto cpus = read_cpus(word);
      if (!cpus) return tl::make_unexpected(cpus.error());
      places.cpus.insert(places.cpus.end(), cpus->begin(), cpus->end());
      continue;
    }
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number >= kFixedFirst) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a counter", word),
                  "c0, c1 ..., f0 for a fixed one");
    }
    places.counters.insert(sort == 'f' ? kFixedFirst + number : number);
  }
  if (!places.cpus.empty()) return places;
  for (const LedgerPlace& place : ledger.places()) {
    const auto& cpus = places.cpus;
    if (is_of(place, invocation.pmu.pmu) &&
        std::find(cpus.begin(), cpus.end(), place.cpu) == cpus.end()) {
      places.cpus.push_back(place.cpu);
    }
  }
  // A request for the first CPU says why there is nothing.
  if (places.cpus.empty()) places.cpus.push_back(0);
  return places;
}

std::string hardware_counter_text(std::uint32_t counter) {
  return counter < kFixedFirst ? fmt::format("c{}", counter)
                               : fmt::format("f{}", counter - kFixedFirst);
}

// The owner of a counter; the ledger tells apart counters that are not leased.
std::string owner_text(const pmu::CounterOwner& owner, std::optional<std::uint64_t> slot) {
  if (owner.kind == pmu::OwnerKind::kUntagged) return "leased";
  if (owner.kind == pmu::OwnerKind::kForeign && slot) {
    if ((pmu::flags_of(*slot) & pmu::kSlotReserved) != 0) return "reserved";
    const auto state = pmu::state_of<CounterState>(*slot);
    if (state == CounterState::kKernel || state == CounterState::kBroken) {
      return std::string(name_of(state));
    }
  }
  return std::string(name_of(owner.kind));
}

// Of the counter at this position on this CPU.
std::optional<std::uint64_t> slot_word_of(const LedgerView& ledger, const std::string& pmu,
                                          std::uint32_t cpu, std::uint32_t position) {
  for (const LedgerPlace& place : ledger.places()) {
    if (!is_of(place, pmu) || place.cpu != cpu) continue;
    if (position >= std::uint32_t{place.general} + place.fixed) break;
    return ledger.slot_word(place.first_slot + position);
  }
  return std::nullopt;
}

class OwnerListing {
 public:
  explicit OwnerListing(const std::vector<ArbiterRow>& leases) : leases_(leases) {}

  // `slot`: its word in the ledger.
  void add(std::uint32_t cpu, const pmu::CounterOwner& owner, std::optional<std::uint64_t> slot) {
    const auto lease = std::find_if(leases_.begin(), leases_.end(), [&](const ArbiterRow& row) {
      return owner.token != 0 && row.number("token") == owner.token;
    });
    std::string event;
    if (owner.kind == pmu::OwnerKind::kTaggedWithSource) {
      event = fmt::format("{:#x}:{:#x}", owner.code, owner.unit_mask);
    }
    const bool is_known = lease != leases_.end();
    listing_.add({Cell::number(std::uint64_t{cpu}),
                  Cell::text(hardware_counter_text(owner.counter)),
                  Cell::text(owner_text(owner, slot)),
                  is_known ? Cell::text(holder_text(lease->text("holder"), lease->number("pid")))
                           : Cell::absent(),
                  since_cell(is_known ? lease->number("since_ns") : 0, now_ns_),
                  owner.token == 0 ? Cell::absent() : Cell::text(token_text(owner.token)),
                  owner.tag == 0 ? Cell::absent() : Cell::text(fmt::format("#{:x}", owner.tag)),
                  event.empty() ? Cell::absent() : Cell::text(event),
                  Cell::text(is_known ? lease->text("label") : "")});
  }
  [[nodiscard]] const Listing& listing() const noexcept { return listing_; }

 private:
  const std::vector<ArbiterRow>& leases_;
  std::uint64_t now_ns_ = clock_ns(CLOCK_MONOTONIC);
  Listing listing_{{{"CPU", "cpu", Align::kRight},
                    {"COUNTER", "counter"},
                    {"OWNER", "owner"},
                    {"HOLDER", "holder"},
                    {"SINCE", "since_s", Align::kRight},
                    {"TOKEN", "token"},
                    {"TAG", "tag", Align::kLeft, true},
                    {"EVENT", "event", Align::kLeft, true},
                    {"LABEL", "label"}}};
};

}  // namespace

int pmu_list(const Invocation& invocation, Console& console) {
  auto connection = connect_to_arbiter(invocation);
  if (!connection) return report_error(console, connection.error());
  auto summaries = summaries_of(*connection->ledger());
  const std::string& wanted = invocation.pmu.pmu;
  if (!wanted.empty()) {
    NearestName nearest(wanted);
    for (const auto& pmu : summaries) nearest.consider(pmu.name);
    std::erase_if(summaries, [&](const PmuSummary& pmu) { return pmu.name != wanted; });
    if (summaries.empty()) {
      complain(console, fmt::format("no PMU '{}'; try: {}", wanted,
                                    nearest.best().value_or("meterbank pmu list")));
      return kExitNo;
    }
  } else if (!connection->facts().has_pmu && !invocation.quiet) {
    explain_no_pmu(*connection, console);
  }
  if (auto rows = read_arbiter_rows(arbiter_directory(invocation))) {
    add_outsiders(summaries, (*rows)["pmu_outsider"]);
  }
  if (!invocation.quiet) explain_outsiders(summaries, console);
  return show_listing(invocation, console,
                      invocation.pmu.details ? list_events(summaries) : list_pmus(summaries));
}

int pmu_who(const Invocation& invocation, Console& console) {
  auto connection = connect_to_arbiter(invocation);
  if (!connection) return report_error(console, connection.error());
  const auto places = read_places(invocation, *connection->ledger());
  if (!places) return report_error(console, places.error());
  // Names are an extra: owners are known without them.
  auto rows = read_arbiter_rows(arbiter_directory(invocation));
  const std::vector<ArbiterRow> no_leases;
  OwnerListing listing(rows ? (*rows)["pmu_lease"] : no_leases);
  for (const std::uint32_t cpu : places->cpus) {
    const auto owners = connection->owners(invocation.pmu.pmu, cpu);
    if (!owners) return report_refusal(console, owners.error(), {.no_pmu = "--pmu breakpoint"});
    for (std::uint32_t i = 0; i < owners->size(); ++i) {
      const pmu::CounterOwner& owner = (*owners)[i];
      const bool is_meant = places->counters.empty() || places->counters.contains(owner.counter);
      if (!is_meant) continue;
      listing.add(cpu, owner, slot_word_of(*connection->ledger(), invocation.pmu.pmu, cpu, i));
    }
  }
  return show_listing(invocation, console, listing.listing());
}

}  // namespace meterbank::cli
