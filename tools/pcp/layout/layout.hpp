// SPDX-License-Identifier: Apache-2.0
//
// What PCP is shown, apart from the values: metrics, instance domains and the rows behind them.
// Made anew when the query selects other rows.
//
//   metric                        part: rows of one registration      domain: instances of a set
//   +--------------------------+  +---------------------------+       +-------------------------+
//   | meterbank.orders.depth   |->| block 0: rows 0..3        |------>| 1804289: orders/eu      |
//   | 478.12.7, u64, instant   |  | block 1: rows 4..7        |       | 8469303: orders/us, ... |
//   +--------------------------+  +---------------------------+       +-------------------------+
#pragma once

#include <pcp/pmapi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pcp/metrics/set_metrics.hpp"

namespace meterbank::pcp {

inline constexpr std::string_view kRoot = "meterbank";

// What is known of the process behind rows. All texts are UTF-8 without control characters.
struct RowProvider {
  std::string name, container, pod, unit;  // empty: none, or not known
  std::uint32_t pid = 0, uid = 0;
};

// Which registration of which provider: segment, place, generation.
using RegistrationKey = std::array<std::uint64_t, 4>;

// What tells an instance from another one that takes its place.
struct RowLife {
  std::uint32_t slot = 0;
  std::uint64_t generation = 0;

  bool operator==(const RowLife&) const = default;
};

// The rows of one registration, side by side in a sample.
struct RowBlock {
  std::shared_ptr<const Counterset> set;
  std::size_t domain = 0, provider = 0;
  std::size_t first_row = 0;
  std::vector<int> ids;  // of the instances, one a row; negative: the row is not shown
  RegistrationKey registration{};
  std::vector<RowLife> lives;  // one a row, by slot, if the set has distributions
};

struct ShownInstance {
  int id = 0;
  std::string name;   // external
  std::string plain;  // as the provider says; empty: its set has one row
  std::size_t block = 0;
};

struct Domain {
  pmInDom id = PM_INDOM_NULL;
  std::string set;    // its part of the names of metrics
  std::string label;  // what an instance is called
  std::string oneline, help;
  std::vector<ShownInstance> instances;  // by id
};

struct MetricPart {
  std::size_t block = 0;
  MetricSource source;
};

struct Metric {
  std::string name;  // with the root
  pmDesc desc = {};
  std::string oneline, help, ucum;
  std::size_t domain = 0;
  std::vector<MetricPart> parts;
};

struct Layout {
  std::vector<RowProvider> providers;
  std::vector<RowBlock> blocks;
  std::vector<Domain> domains;
  std::vector<Metric> metrics;                         // by name
  std::unordered_map<pmID, std::size_t> by_id;         // index in `metrics`
  std::unordered_map<pmInDom, std::size_t> by_domain;  // index in `domains`
  std::size_t metrics_left_out = 0;                    // of providers or machines with too many

  // Null: there is none.
  [[nodiscard]] const Metric* find(pmID id) const noexcept;
  [[nodiscard]] const Metric* find(std::string_view name) const noexcept;
  [[nodiscard]] const Domain* find_domain(pmInDom id) const noexcept;
};

}  // namespace meterbank::pcp
