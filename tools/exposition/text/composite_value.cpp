// SPDX-License-Identifier: Apache-2.0
#include "exposition/text/composite_value.hpp"

#include <cstdint>
#include <string_view>

#include "exposition/page/row_values.hpp"
#include "exposition/text/text_number.hpp"

namespace meterbank::exposition {
namespace {

// "name:[a,b,c]" behind a comma; `append_item(item)` writes one of the items.
template <typename Items, typename Append>
void append_list(std::string& out, std::string_view name, const Items& items, Append append_item) {
  out.append(",").append(name).append(":[");
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) out += ',';
    is_first = false;
    append_item(item);
  }
  out += ']';
}

void append_signed(std::string& out, std::int64_t value) {
  append_number(out, {Number::Kind::kSigned, static_cast<std::uint64_t>(value), 0});
}

}  // namespace

CompositeValues::CompositeValues(std::span<const double> bounds) : bounds_(bounds) {}

void CompositeValues::append_histogram(std::string& out, const Distribution& distribution) {
  out += "{count:";
  append_whole(out, distribution.count);
  out += ",sum:";
  append_real(out, distribution.sum);
  append_native(out, distribution);
  if (!bounds_.empty()) {
    append_list(out, "bucket", bounds_, [&](double bound) {
      append_real(out, bound);
      out += ':';
      append_whole(out, count_up_to(distribution, bound));
    });
    out.pop_back();  // the bracket
    out += ",+Inf:";
    append_whole(out, distribution.count);
    out += ']';
  }
  out += '}';
}

void CompositeValues::append_native(std::string& out, const Distribution& distribution) {
  native_.assign(distribution);
  out += ",schema:";
  append_signed(out, native_.schema);
  out += ",zero_threshold:";
  append_real(out, native_.zero_threshold);
  out += ",zero_count:";
  append_whole(out, native_.zero_count);
  if (native_.spans.empty()) return;
  append_list(out, "positive_spans", native_.spans, [&](const NativeHistogram::Span& span) {
    append_signed(out, span.offset);
    out += ':';
    append_whole(out, span.length);
  });
  // Here buckets are counts, not differences.
  std::int64_t count = 0;
  append_list(out, "positive_buckets", native_.deltas, [&](std::int64_t delta) {
    count += delta;
    append_signed(out, count);
  });
}

void append_summary(std::string& out, const Number& count, const Number& sum) {
  out += "{count:";
  append_number(out, count);
  out += ",sum:";
  append_number(out, sum);
  out += ",quantile:[]}";
}

}  // namespace meterbank::exposition
