// SPDX-License-Identifier: Apache-2.0
#include "summary_frame.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "../frames/bytes.hpp"

namespace meterbank::recording {
namespace {

constexpr std::size_t kWordMax = 16 << 10U;
constexpr double kThousandths = 1000;
constexpr double kLastSteps = 255;

// How the parts of a series are stored.
enum class PartsForm : std::uint8_t {
  kZero = 0,    // a zero at each moment
  kFlat = 1,    // another number at each moment; the number follows
  kParts = 2,   // a bit for each part that has values, then least, greatest and last of each
  kAbsent = 3,  // no values
  // As the first two, where only some parts have values: a bit for each of these comes first.
  kZeroParts = 4,
  kFlatParts = 5,
};

// A counter, or a percentile of it: 1 more than its thousandths of a per cent.
using NamedColumn = std::pair<std::string, std::uint64_t>;

NamedColumn column_of(const EnvelopeSeries& series) {
  const std::uint64_t percentile =
      series.percentile
          ? static_cast<std::uint64_t>(std::llround(*series.percentile * kThousandths)) + 1
          : 0;
  return {counter_word(series.counter), percentile};
}

auto row_key(const EnvelopeSeries& series) {
  return std::tie(series.set, series.provider, series.host, series.instance);
}

std::size_t common_prefix(std::string_view left, std::string_view right) {
  const auto [end, other] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  return static_cast<std::size_t>(end - left.begin());
}

// ---- Writing ------------------------------------------------------------------------------------

void append_number(std::uint32_t packed, ByteWriter& out) {
  const std::array<std::uint8_t, 3> bytes{static_cast<std::uint8_t>(packed),
                                          static_cast<std::uint8_t>(packed >> 8U),
                                          static_cast<std::uint8_t>(packed >> 16U)};
  out.raw(bytes);
}

void append_part(const EnvelopeBucket& part, ByteWriter& out) {
  const std::uint32_t down = packed_number(part.least, Rounded::kDown);
  const std::uint32_t up = packed_number(part.most, Rounded::kUp);
  const double least = unpacked_number(down);
  const double range = unpacked_number(up) - least;
  const double share = range > 0 ? std::clamp((part.last - least) / range, 0.0, 1.0) : 0;
  append_number(down, out);
  append_number(up, out);
  out.raw(static_cast<std::uint8_t>(std::lround(share * kLastSteps)));
}

bool is_flat(const std::vector<EnvelopeBucket>& parts, double value) {
  return std::all_of(parts.begin(), parts.end(), [value](const EnvelopeBucket& part) {
    return part.count == 0 || (part.least == value && part.most == value);
  });
}

void append_parts(const std::vector<EnvelopeBucket>& parts, unsigned all, ByteWriter& out) {
  unsigned present = 0;
  for (std::size_t part = 0; part < kSummaryParts; ++part) {
    if (parts[part].count != 0) present |= 1U << part;
  }
  if (present == 0) return out.raw(PartsForm::kAbsent);
  const double first = parts[static_cast<std::size_t>(std::countr_zero(present))].least;
  const std::uint32_t packed = packed_number(first, Rounded::kDown);
  const auto bits = static_cast<std::uint8_t>(present);
  if (unpacked_number(packed) == first && is_flat(parts, first)) {
    const bool is_zero = first == 0;
    if (present == all) {
      out.raw(is_zero ? PartsForm::kZero : PartsForm::kFlat);
    } else {
      out.raw(is_zero ? PartsForm::kZeroParts : PartsForm::kFlatParts);
      out.raw(bits);
    }
    if (!is_zero) append_number(packed, out);
    return;
  }
  out.raw(PartsForm::kParts);
  out.raw(bits);
  for (const EnvelopeBucket& part : parts) {
    if (part.count != 0) append_part(part, out);
  }
}

// Numbers for what rows refer to.
struct Tables {
  std::map<std::string, std::map<NamedColumn, std::size_t>> sets;
  std::map<std::pair<std::string, std::string>, std::size_t> providers;  // with their host

  explicit Tables(const std::vector<EnvelopeSeries>& series) {
    for (const EnvelopeSeries& one : series) {
      sets[one.set].emplace(column_of(one), 0);
      providers.emplace(std::pair(one.provider, one.host), 0);
    }
    for (auto& [set, columns] : sets) number(columns);
    number(providers);
  }
  void append(ByteWriter& out) const {
    out.number(sets.size());
    for (const auto& [set, columns] : sets) {
      out.text(set);
      out.number(columns.size());
      for (const auto& [column, number] : columns) {
        out.text(column.first);
        out.number(column.second);
      }
    }
    out.number(providers.size());
    for (const auto& [provider, number] : providers) {
      out.text(provider.first);
      out.text(provider.second);
    }
  }

 private:
  template <typename Map>
  static void number(Map& map) {
    std::size_t next = 0;
    for (auto& [key, number] : map) number = next++;
  }
};

// ---- Reading ------------------------------------------------------------------------------------

std::uint32_t read_number(ByteReader& in) {
  const auto bytes = in.raw<std::array<std::uint8_t, 3>>();
  return bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8U |
         static_cast<std::uint32_t>(bytes[2]) << 16U;
}

EnvelopeBucket read_part(ByteReader& in, std::uint64_t moments) {
  EnvelopeBucket part{.count = std::max<std::uint64_t>(moments, 1)};
  part.least = unpacked_number(read_number(in));
  part.most = unpacked_number(read_number(in));
  const double share = in.raw<std::uint8_t>() / kLastSteps;
  part.last = std::min(part.least + share * (part.most - part.least), part.most);
  const bool is_sound = std::isfinite(part.least) && std::isfinite(part.most) &&
                        part.least <= part.most && std::isfinite(part.last);
  if (!is_sound) in.fail();
  return part;
}

std::array<EnvelopeBucket, kSummaryParts> read_parts(const SummaryHead& head, ByteReader& in) {
  std::array<EnvelopeBucket, kSummaryParts> parts{};
  const auto form = static_cast<PartsForm>(in.raw<std::uint8_t>());
  if (form == PartsForm::kAbsent) return parts;
  if (form == PartsForm::kParts) {
    const unsigned present = in.raw<std::uint8_t>();
    for (std::size_t part = 0; part < kSummaryParts; ++part) {
      if ((present >> part & 1U) != 0) parts[part] = read_part(in, head.moments[part]);
    }
    return parts;
  }
  if (form > PartsForm::kFlatParts) in.fail();
  const bool has_bits = form == PartsForm::kZeroParts || form == PartsForm::kFlatParts;
  const bool is_zero = form == PartsForm::kZero || form == PartsForm::kZeroParts;
  const unsigned present = has_bits ? in.raw<std::uint8_t>() : ~0U;
  const double value = is_zero ? 0 : unpacked_number(read_number(in));
  if (!std::isfinite(value)) in.fail();
  for (std::size_t part = 0; part < kSummaryParts; ++part) {
    const bool is_there = (present >> part & 1U) != 0 && head.moments[part] != 0;
    if (is_there) parts[part] = {head.moments[part], value, value, value};
  }
  return parts;
}

// Most of a frame is of rows that were not asked for.
void skip_parts(ByteReader& in) {
  constexpr std::size_t kPartBytes = 7;
  switch (static_cast<PartsForm>(in.raw<std::uint8_t>())) {
    case PartsForm::kZero:
    case PartsForm::kAbsent:
      return;
    case PartsForm::kZeroParts:
      return in.skip(1);
    case PartsForm::kFlat:
      return in.skip(3);
    case PartsForm::kFlatParts:
      return in.skip(4);
    case PartsForm::kParts:
      return in.skip(kPartBytes * static_cast<std::size_t>(std::popcount(in.raw<std::uint8_t>())));
  }
  in.fail();
}

SummaryHead read_head(ByteReader& in) {
  SummaryHead head;
  head.sequence = in.number();
  head.chunk = in.number();
  head.chunks = in.number();
  head.from_ns = in.number();
  head.part_ns = in.number();
  for (std::uint64_t& moments : head.moments) moments = in.number();
  if (head.part_ns == 0) in.fail();
  return head;
}

struct ReadColumn {
  std::string_view counter;
  std::uint64_t percentile = 0;
};
struct ReadSet {
  std::string_view word;
  std::vector<ReadColumn> columns;
};

// Every entry takes at least one byte, so a list is never longer than what is left.
std::vector<ReadSet> read_sets(ByteReader& in) {
  std::vector<ReadSet> sets;
  const std::uint64_t count = in.number_below(in.rest().size() + 1);
  for (std::uint64_t set = 0; set < count && !in.failed(); ++set) {
    ReadSet& one = sets.emplace_back();
    one.word = in.text(kWordMax);
    const std::uint64_t columns = in.number_below(in.rest().size() + 1);
    for (std::uint64_t column = 0; column < columns && !in.failed(); ++column) {
      const auto word = in.text(kWordMax);
      one.columns.push_back({word, in.number()});
    }
  }
  return sets;
}

std::vector<std::pair<std::string_view, std::string_view>> read_providers(ByteReader& in) {
  std::vector<std::pair<std::string_view, std::string_view>> providers;
  const std::uint64_t count = in.number_below(in.rest().size() + 1);
  for (std::uint64_t provider = 0; provider < count && !in.failed(); ++provider) {
    const auto name = in.text(kWordMax);
    providers.emplace_back(name, in.text(kWordMax));
  }
  return providers;
}

// "eu" of "eu#7", which is what an instance is called where several share the name.
std::string_view shared_name(std::string_view instance) {
  return instance.substr(0, instance.rfind('#'));
}

// Whether rows of this set and instance have anything that was asked for.
bool is_wanted(std::string_view set, std::string_view instance,
               std::span<const SummaryName> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const SummaryName& one) {
    return one.set == set &&
           (one.instance == instance || shared_name(one.instance) == shared_name(instance));
  });
}

bool is_wanted(std::string_view counter, std::span<const SummaryName> wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const SummaryName& one) { return one.counter == counter; });
}

bool has_values(const std::array<EnvelopeBucket, kSummaryParts>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const EnvelopeBucket& part) { return part.count != 0; });
}

}  // namespace

bool is_summary_percentile(double asked, double kept) noexcept {
  return std::llround(asked * kThousandths) == std::llround(kept * kThousandths);
}

const std::string& counter_word(const CounterView& counter) noexcept {
  return counter.symbol.empty() ? counter.name : counter.symbol;
}

std::uint32_t packed_number(double value, Rounded rounded) noexcept {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr std::uint32_t kDropped = 0xff, kGreatest = 0x7f7fff, kSign = 0x800000;
  const bool is_up = rounded == Rounded::kUp;
  auto number = static_cast<float>(std::clamp<double>(value, -kMost, kMost));
  if (is_up && static_cast<double>(number) < value) number = std::nextafter(number, kMost);
  if (!is_up && static_cast<double>(number) > value) number = std::nextafter(number, -kMost);
  const auto bits = std::bit_cast<std::uint32_t>(number);
  // What is dropped makes the magnitude smaller.
  const bool grows = is_up != std::signbit(number) && (bits & kDropped) != 0;
  const std::uint32_t packed = (bits >> 8U) + (grows ? 1 : 0);
  return (packed & kSign) | std::min(packed & (kSign - 1), kGreatest);
}

double unpacked_number(std::uint32_t packed) noexcept {
  return static_cast<double>(std::bit_cast<float>(packed << 8U));
}

void append_summary_frame(SummaryHead head, std::vector<EnvelopeSeries>& series, std::string& out) {
  std::sort(series.begin(), series.end(), [](const EnvelopeSeries& a, const EnvelopeSeries& b) {
    if (row_key(a) != row_key(b)) return row_key(a) < row_key(b);
    return column_of(a) < column_of(b);
  });
  unsigned all = 0;
  for (std::size_t part = 0; part < kSummaryParts; ++part) {
    for (const EnvelopeSeries& one : series) {
      head.moments[part] = std::max(head.moments[part], one.buckets[part].count);
    }
    if (head.moments[part] != 0) all |= 1U << part;
  }
  const Tables tables(series);
  const std::size_t begin = begin_frame(out);
  ByteWriter writer(out);
  writer.number(head.sequence);
  writer.number(head.chunk);
  writer.number(head.chunks);
  writer.number(head.from_ns);
  writer.number(head.part_ns);
  for (const std::uint64_t moments : head.moments) writer.number(moments);
  tables.append(writer);
  std::string_view instance_before;
  for (std::size_t at = 0; at < series.size();) {
    const EnvelopeSeries& row = series[at];
    const auto set = tables.sets.find(row.set);
    writer.number(static_cast<std::uint64_t>(std::distance(tables.sets.begin(), set)));
    writer.number(tables.providers.at({row.provider, row.host}));
    const std::size_t shared = common_prefix(instance_before, row.instance);
    writer.number(shared);
    writer.text(std::string_view(row.instance).substr(shared));
    instance_before = row.instance;
    for (const auto& [column, number] : set->second) {
      const bool is_there = at < series.size() && row_key(series[at]) == row_key(row) &&
                            column_of(series[at]) == column;
      if (is_there) {
        append_parts(series[at++].buckets, all, writer);
      } else {
        writer.raw(PartsForm::kAbsent);
      }
    }
  }
  end_frame(out, begin, FrameKind::kSummary);
}

std::optional<Summary> read_summary(const Frame& frame, std::span<const SummaryName> wanted) {
  if (frame.kind != FrameKind::kSummary) return std::nullopt;
  ByteReader in(frame.payload);
  Summary summary;
  summary.head = read_head(in);
  const auto sets = read_sets(in);
  const auto providers = read_providers(in);
  std::string instance;
  while (!in.failed() && !in.rest().empty()) {
    const std::uint64_t set_number = in.number_below(sets.size());
    const std::uint64_t provider_number = in.number_below(providers.size());
    const std::uint64_t shared = in.number_below(instance.size() + 1);
    const auto rest = in.text(kWordMax);
    if (in.failed() || shared + rest.size() > kWordMax) return std::nullopt;
    instance.resize(shared);
    instance += rest;
    const ReadSet& set = sets[set_number];
    const bool is_row_wanted = is_wanted(set.word, instance, wanted);
    for (const ReadColumn& column : set.columns) {
      if (!is_row_wanted || !is_wanted(column.counter, wanted)) {
        skip_parts(in);
        continue;
      }
      SummarySeries series;
      series.parts = read_parts(summary.head, in);
      if (!has_values(series.parts)) continue;
      series.provider = providers[provider_number].first;
      series.host = providers[provider_number].second;
      series.name = {std::string(set.word), instance, std::string(column.counter)};
      if (column.percentile != 0) {
        series.percentile = static_cast<double>(column.percentile - 1) / kThousandths;
      }
      summary.series.push_back(std::move(series));
    }
  }
  if (in.failed()) return std::nullopt;
  return summary;
}

}  // namespace meterbank::recording
