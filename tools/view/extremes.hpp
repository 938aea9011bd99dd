// SPDX-License-Identifier: Apache-2.0
//
// The least and the greatest values of a part of a recording, as plots show them. They are read
// from the end on, because the newest ones matter most, and as far as there is time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/session/selection.hpp"
#include "meterbank/recording/envelope.hpp"

namespace meterbank::view {

// Which part of a recording plots are of.
struct ExtremesOf {
  std::set<std::string> paths;  // as Value::short_path() has them
  std::uint64_t from_ns = 0, to_ns = 0;
  std::size_t columns = 0;

  // All of `other` is in it.
  [[nodiscard]] bool covers(const ExtremesOf& other) const;
};

class Extremes {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Extremes(ExtremesOf wanted);

  // Reads until all is read, or `until` has passed, or `stop`. What cannot be read is left out, and
  // problem() says so.
  void read_on(cli::Selection& selection, Clock::time_point until,
               const std::stop_token& stop = {});

  [[nodiscard]] const ExtremesOf& of() const noexcept { return of_; }
  [[nodiscard]] bool are_whole() const noexcept { return begin_ns_ <= found_.from_ns; }
  // Why the first part could not be read that could not; empty: all could, so far.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  // What lies before is not read yet.
  [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }
  [[nodiscard]] const std::vector<recording::EnvelopeSeries>& series() const noexcept {
    return found_.series;
  }
  // Those of one path and of the provider with this label (label_of()), one for each percentile;
  // without a label, of any provider.
  [[nodiscard]] std::vector<recording::EnvelopeSeries> series_of(const std::string& path,
                                                                 const std::string& provider) const;
  [[nodiscard]] std::uint64_t end_of(std::size_t bucket) const noexcept {
    return found_.from_ns + (bucket + 1) * found_.bucket_ns;
  }

 private:
  [[nodiscard]] std::uint64_t begin_of_next(const cli::Selection& selection) const;
  void lay(recording::Envelope&& part);

  ExtremesOf of_;
  recording::Envelope found_;
  std::uint64_t begin_ns_;
  std::size_t chunks_;  // to read at once
  std::string problem_;
};

}  // namespace meterbank::view
