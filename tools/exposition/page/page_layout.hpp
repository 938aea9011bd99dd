// SPDX-License-Identifier: Apache-2.0
//
// What a page of metrics consists of, apart from the values: families in their order, and for each
// of them the rows of a sample that have it. Made once for a query, used for every page until the
// query selects other rows.
//
//   family                         part: rows of one provider       row: its labels
//   +---------------------------+  +----------------------------+   +---------------------------+
//   | demo_orders_accepted      |->| orders: rows 0..3, word 0  |-->| provider="orders",venue=… |
//   | counter, help             |  | orders2: rows 4..7, word 0 |   +---------------------------+
//   +---------------------------+  +----------------------------+
//
// Rules:
// - Counters of one name, type and unit are one family, whichever providers have them. Of families
//   that share a name and differ in type or unit, the one of the more trusted and older provider
//   keeps it; the other one gets the first eight digits of its set's GUID into its name, and, where
//   that does not suffice, the id of its counter. So does the second set of one symbol that one
//   provider has.
// - Each series has labels of its own: "provider"; "pid" where another provider has the same name;
//   "uid" where the provider is not trusted; what the set calls an instance, with its name; "id"
//   where instances share a name; "registration" where a provider registered a set twice.
// - Totals are left out, those that readers make and those that providers publish as `_Total`: a
//   sum over the family would count everything twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/family/family_names.hpp"
#include "exposition/page/labels.hpp"
#include "exposition/page/start_times.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::exposition {

enum class RowPlace : std::uint8_t {
  kShown,
  kTotal,     // only on pages that ask for instances by name
  kRepeated,  // its labels are those of another row: on no page
};

// Rows that a provider published as the total of others: "_Total", and "0,_Total" of a node.
[[nodiscard]] bool is_published_total(std::string_view instance) noexcept;

// A provider of rows, for formats that describe it apart from its series. All texts are valid UTF-8
// without control characters.
struct PageProvider {
  std::string name;
  std::array<std::uint64_t, 2> segment_id{};  // see ProviderView
  std::uint32_t pid = 0, uid = 0;
  std::uint64_t created_ns = 0;      // CLOCK_REALTIME
  std::string container, pod, unit;  // empty: none, or not known
  std::uint32_t pid_here = 0;        // pid of its process as this process sees it; 0: not known
  std::uint64_t start_time = 0;      // of its process, clock ticks since boot
  std::string host;                  // in a recording of several machines
};

// The rows of one registration, side by side in a sample. All texts are valid UTF-8 without control
// characters.
struct RowBlock {
  std::size_t first_row = 0;  // in the sample
  std::size_t provider = 0;   // in PageLayout::providers
  std::shared_ptr<const Counterset> set;
  std::string set_symbol, provider_name;
  std::vector<std::uint64_t> starts_ns;  // one a row, CLOCK_REALTIME; see StartTimes
  std::vector<Label> common;             // labels that all its rows have
  std::string instance_label;            // name of the label; empty: one row without a name
  std::vector<std::string> instances;    // one a row, where they have names
  std::vector<std::string> ids;          // one a row, where names do not tell rows apart
  std::vector<std::string> texts;  // one a row: its labels as text formats have them, no braces
  std::vector<RowPlace> places;    // one a row
  bool are_all_shown = true;       // each place is kShown

  [[nodiscard]] std::size_t rows() const noexcept { return texts.size(); }
};

// What one registration contributes to a family.
struct FamilyPart {
  std::size_t block = 0;
  NumberSource value, count;
  const CounterView* counter = nullptr;  // in RowBlock::set
};

struct PageFamily : NamedFamily {
  std::vector<FamilyPart> parts;  // in the order of their blocks
};

struct PageLayout {
  std::string prefix;  // of the names of all families
  std::vector<PageProvider> providers;
  std::vector<RowBlock> blocks;  // provider by provider
  std::vector<PageFamily> families;
  std::size_t renamed = 0;  // families that got another name because theirs was taken
  // Because another row has their labels, or because too many sets have one symbol.
  std::size_t rows_left_out = 0;
};

// `selected`: of a query or of its samples, whose rows are numbered alike. `last_look_ns`: the
// CLOCK_REALTIME of the layout before, 0 if this is the first.
[[nodiscard]] PageLayout make_page_layout(const std::vector<SelectedSet>& selected,
                                          const MetricNames& names, StartTimes& starts,
                                          std::uint64_t last_look_ns);

}  // namespace meterbank::exposition
