// SPDX-License-Identifier: Apache-2.0
//
// The arbiter's countersets: leases, waiters, outsiders, values and statistics as rows that any
// reader of this library shows. What each says is in arbiter.toml.
//
// One thread. Rows follow update(); a row that cannot be made (too many, no memory) is left out and
// counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arbiter/core/arbiter.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

// What the arbiter itself does not know.
struct ServerCounts {
  std::uint64_t clients = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t packets_rejected = 0;
};

class Rows {
 public:
  static constexpr std::size_t kValueRowsMax = 8192;
  static constexpr std::size_t kOutsiderRowsMax = 256;

  // Errors: those of Provider::create() and Provider::add().
  static Result<Rows> create(const std::string& directory);
  Rows(Rows&&) noexcept;
  Rows& operator=(Rows&&) noexcept;
  ~Rows();

  // Everything as it is now; values as they were last sampled.
  void update(const Arbiter& arbiter, const ServerCounts& counts);
  void record_grant(double seconds) noexcept;

 private:
  struct Sets;
  explicit Rows(std::unique_ptr<Sets> sets) noexcept;
  std::unique_ptr<Sets> sets_;
};

// "0001000200000003": what rows of leases are called; of values with a point and their position in
// Values behind it.
[[nodiscard]] std::string row_name_of(pmu::Token token);

}  // namespace meterbank::arbiter
