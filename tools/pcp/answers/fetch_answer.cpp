// SPDX-License-Identifier: Apache-2.0
#include "pcp/answers/fetch_answer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "exposition/page/number.hpp"
#include "exposition/page/row_walk.hpp"

namespace meterbank::pcp {
namespace {

using exposition::FamilyType;
using exposition::Number;
using Part = MetricSource::Part;

constexpr std::size_t kFirstBytes = std::size_t{1} << 20;

template <typename T>
std::array<std::byte, sizeof(T)> bytes_of(const T& value) noexcept {
  return std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
}

bool is_of_distribution(Part part) noexcept { return part != Part::kNumber && part != Part::kText; }

exposition::PageFamily family(FamilyType type) {
  exposition::PageFamily made;
  made.type = type;
  return made;
}

}  // namespace

FetchAnswer::FetchAnswer()
    : first_memory_(kFirstBytes), memory_(first_memory_.data(), first_memory_.size()) {}

pmResult* FetchAnswer::make(std::span<const pmID> ids, const Observed& observed,
                            const pmProfile* profile) {
  memory_.release();
  // It has room for one set of values.
  const std::size_t bytes = sizeof(pmResult) + ids.size() * sizeof(pmValueSet*);
  auto* const result = static_cast<pmResult*>(memory_.allocate(bytes, alignof(pmResult)));
  *result = {};
  result->numpmid = static_cast<int>(ids.size());
  std::optional<InstanceFilter> filter;
  pmInDom filtered = PM_INDOM_NULL;
  for (std::size_t index = 0; index < ids.size(); ++index) {
    const Metric* const metric = observed.layout.find(ids[index]);
    if (metric == nullptr) {
      result->vset[index] = no_values(ids[index], PM_ERR_PMID);
      continue;
    }
    if (!filter || filtered != metric->desc.indom) {
      filtered = metric->desc.indom;
      filter.emplace(profile, filtered);
    }
    result->vset[index] = values_of(*metric, observed, *filter);
  }
  return result;
}

pmValueSet* FetchAnswer::no_values(pmID id, int status) {
  auto* const values =
      static_cast<pmValueSet*>(memory_.allocate(sizeof(pmValueSet), alignof(pmValueSet)));
  *values = {};
  values->pmid = id;
  values->numval = status;
  return values;
}

pmValueSet* FetchAnswer::values_of(const Metric& metric, const Observed& observed,
                                   const InstanceFilter& filter) {
  const Layout& layout = observed.layout;
  const Sample& sample = observed.sample;
  std::size_t rows = 0;
  for (const MetricPart& part : metric.parts) rows += layout.blocks[part.block].ids.size();
  auto* const values = static_cast<pmValueSet*>(
      memory_.allocate(sizeof(pmValueSet) + rows * sizeof(pmValue), alignof(pmValueSet)));
  *values = {};
  values->pmid = metric.desc.pmid;
  values->valfmt = PM_VAL_SPTR;
  const std::span<const RowStatus> statuses = sample.statuses();
  for (const MetricPart& part : metric.parts) {
    if (observed.left_out != nullptr && (*observed.left_out)[part.block]) continue;
    const RowBlock& block = layout.blocks[part.block];
    for (std::size_t row = 0; row < block.ids.size(); ++row) {
      const std::size_t in_sample = block.first_row + row;
      if (block.ids[row] < 0 || !exposition::is_shown(statuses[in_sample])) continue;
      if (!filter.has(block.ids[row])) continue;
      const MetricSource& source = part.source;
      const StoredRow stored = sample.stored(in_sample);
      pmValueBlock* const value =
          is_of_distribution(source.part)
              ? part_of_distribution(source, stored, sample.time,
                                     observed.window.before(block, row, source))
              : value_of(source, metric.desc.type, stored, sample.time);
      if (value == nullptr) continue;
      pmValue& next = values->vlist[values->numval++];
      next.inst = block.ids[row];
      next.value.pval = value;
    }
  }
  return values;
}

pmValueBlock* FetchAnswer::value_of(const MetricSource& source, int type, const StoredRow& row,
                                    const Timestamp& time) {
  if (source.part == Part::kText) {
    static const exposition::PageFamily text_family = family(FamilyType::kInfo);
    if (!row_values_.read(text_family, {0, {}, {}, source.counter}, row, time)) return nullptr;
    const std::string& text = row_values_.text;
    return block(type, std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  }
  Number number = exposition::number_of(source.number, row, time);
  const bool is_missing = number.kind == Number::Kind::kNone;
  if (is_missing || (source.only_grows && !exposition::can_count(number))) return nullptr;
  number.whole *= source.multiple;
  number.real *= static_cast<double>(source.multiple);
  if (type == PM_TYPE_DOUBLE) return block(type, bytes_of(number.as_double()));
  return block(type, bytes_of(number.whole));
}

pmValueBlock* FetchAnswer::part_of_distribution(const MetricSource& source, const StoredRow& row,
                                                const Timestamp& time,
                                                std::span<const std::uint64_t> before) {
  static const exposition::PageFamily histogram = family(FamilyType::kHistogram);
  if (!row_values_.read(histogram, {0, {}, {}, source.counter}, row, time)) return nullptr;
  Distribution& distribution = row_values_.distribution;
  if (source.part == Part::kCount) return block(PM_TYPE_U64, bytes_of(distribution.count));
  double value = distribution.sum;
  if (source.part == Part::kMost) {
    if (!distribution.most) return nullptr;
    value = *distribution.most;
  }
  if (source.part == Part::kQuantile) {
    const bool has_window = !before.empty() && before_.read({source.counter->shape, 0, 1}, before);
    if (has_window && !distribution.subtract(before_)) return nullptr;
    const std::optional<Quantile> quantile = distribution.quantile(source.share);
    if (!quantile) return nullptr;
    value = quantile->value;
  }
  return block(PM_TYPE_DOUBLE, bytes_of(value * source.factor / source.divisor));
}

pmValueBlock* FetchAnswer::block(int type, std::span<const std::byte> bytes) {
  // libpcp copies whole words.
  const std::size_t size = PM_VAL_HDR_SIZE + bytes.size();
  constexpr std::size_t kWord = sizeof(std::uint32_t);
  const std::size_t padded = (size + kWord - 1) / kWord * kWord;
  auto* const made = static_cast<pmValueBlock*>(memory_.allocate(padded, alignof(pmValueBlock)));
  made->vtype = static_cast<unsigned char>(type);
  made->vlen = static_cast<std::uint32_t>(size) & 0xffffffU;
  std::memcpy(made->vbuf, bytes.data(), bytes.size());
  return made;
}

}  // namespace meterbank::pcp
