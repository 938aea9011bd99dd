// SPDX-License-Identifier: Apache-2.0
//
// A request of remote write while it is being put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "exposition/family/family.hpp"
#include "exposition/histogram/native_histogram.hpp"

namespace meterbank::push::remote_write {

enum class Version : std::uint8_t {
  k1,  // prometheus.WriteRequest: every receiver takes it
  k2,  // io.prometheus.write.v2.Request: texts once a request, start timestamps
};

struct LabelView {
  std::string_view name, value;
};

// What is said of all series of one family.
struct FamilyFacts {
  exposition::FamilyType type = exposition::FamilyType::kGauge;
  std::string_view name;  // as a page has it
  std::string_view help, unit;
};

// Milliseconds since 1970; 0: no start is known.
struct SeriesTimes {
  std::int64_t time_ms = 0, start_ms = 0;
};

// What the series of one name have in common; see WriteRequest::describe().
enum class SeriesNumber : std::uint32_t {};

class WriteRequest {
 public:
  virtual ~WriteRequest() = default;

  // Encodes what all series called `series` have in common. Valid until take().
  [[nodiscard]] virtual SeriesNumber describe(const FamilyFacts& family,
                                              std::string_view series) = 0;
  // The series that follow have these labels, which are sorted by name and not empty.
  virtual void begin_row(std::span<const LabelView> labels) = 0;
  // `more`: one more label of this series alone.
  virtual void add_sample(SeriesNumber series, std::optional<LabelView> more, double value,
                          const SeriesTimes& times) = 0;
  virtual void add_histogram(SeriesNumber series, const Distribution& distribution,
                             const exposition::NativeHistogram& buckets,
                             const SeriesTimes& times) = 0;

  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  // The message. The next request begins empty, without a row.
  [[nodiscard]] virtual std::string take() = 0;
};

[[nodiscard]] std::unique_ptr<WriteRequest> make_write_request(Version version);

}  // namespace meterbank::push::remote_write
