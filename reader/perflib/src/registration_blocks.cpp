// SPDX-License-Identifier: Apache-2.0
#include "registration_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "meterbank/reader/item_query.hpp"
#include "meterbank/windows/wide_text.hpp"
#include "rows_by_name.hpp"
#include "unanswered.hpp"

namespace meterbank {
namespace {

template <typename T>
void append(const T& value, std::vector<std::byte>& out) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

// Links are kept as words of the block; outside they are ids.
std::uint32_t id_at(const Counterset& set, std::uint32_t word) noexcept {
  const auto found =
      std::find_if(set.counters.begin(), set.counters.end(),
                   [word](const CounterView& counter) { return counter.word == word; });
  return word == kNoCounter || found == set.counters.end() ? kEveryCounter : found->id;
}

CounterDescription described(const Counterset& set, const CounterView& counter) noexcept {
  CounterDescription description{};
  description.id = counter.id;
  description.type = bits_of(counter.type);
  description.attributes = counter.attributes;
  description.detail = counter.detail;
  description.scale = counter.scale;
  description.base = id_at(set, counter.base);
  description.time = id_at(set, counter.time);
  description.frequency = id_at(set, counter.frequency);
  description.multi = id_at(set, counter.multi);
  description.aggregate = counter.aggregate;
  return description;
}

void append_set(const Counterset& set, std::vector<std::byte>& block) {
  constexpr std::uint32_t kNovice = 100;
  SetDescription description{};
  const auto count = std::count_if(set.counters.begin(), set.counters.end(), is_described);
  description.set = set.guid;
  description.detail = count == 0 ? kNovice : ~std::uint32_t{0};
  for (const CounterView& counter : set.counters) {
    if (is_described(counter)) description.detail = std::min(description.detail, counter.detail);
  }
  description.counters = static_cast<std::uint32_t>(count);
  description.instances = static_cast<std::uint32_t>(set.instances);
  append(description, block);
  for (const CounterView& counter : set.counters) {
    if (is_described(counter)) append(described(set, counter), block);
  }
}

void append_strings(const Counterset& set, std::string CounterView::*text, CharacterWidth width,
                    std::vector<std::byte>& block) {
  const auto count = static_cast<std::uint32_t>(
      std::count_if(set.counters.begin(), set.counters.end(), is_described));
  const std::size_t heads = sizeof(StringsHeader) + count * sizeof(StringRef);
  std::vector<std::byte> texts;
  StringsHeader header{0, count};
  append(header, block);
  for (const CounterView& counter : set.counters) {
    if (!is_described(counter)) continue;
    const std::string& string = counter.*text;
    StringRef ref{counter.id, kNoString};
    if (!string.empty()) {
      ref.offset = static_cast<std::uint32_t>(heads + texts.size());
      append_wide(string, width, texts);
    }
    append(ref, block);
  }
  block.insert(block.end(), texts.begin(), texts.end());
  header.bytes = static_cast<std::uint32_t>(block.size());
  std::memcpy(block.data(), &header, sizeof header);
}

}  // namespace

PerfError describe(const FoundSet& found, DescriptionRequest request, std::uint32_t counter,
                   CharacterWidth width, std::vector<std::byte>& block) {
  const Counterset& set = found.described();
  switch (request) {
    case DescriptionRequest::kSet:
      append_set(set, block);
      return PerfError::kSuccess;
    case DescriptionRequest::kCounter: {
      const CounterView* const view = find_described(set, counter);
      if (view == nullptr) return PerfError::kNotFound;
      append(described(set, *view), block);
      return PerfError::kSuccess;
    }
    case DescriptionRequest::kSetName:
    case DescriptionRequest::kSetEnglishName:
      append_wide(set.name, width, block);
      return PerfError::kSuccess;
    case DescriptionRequest::kSetHelp:
      append_wide(set.help, width, block);
      return PerfError::kSuccess;
    case DescriptionRequest::kCounterNames:
    case DescriptionRequest::kCounterEnglishNames:
      append_strings(set, &CounterView::name, width, block);
      return PerfError::kSuccess;
    case DescriptionRequest::kCounterHelp:
      append_strings(set, &CounterView::help, width, block);
      return PerfError::kSuccess;
    case DescriptionRequest::kProviderName:
      append_wide(found.registrations.front().provider->name, width, block);
      return PerfError::kSuccess;
    case DescriptionRequest::kProviderGuid:
      append(set.provider_guid, block);
      return PerfError::kSuccess;
  }
  return PerfError::kInvalidParameter;
}

std::size_t append_row_header(std::string_view name, std::uint32_t id, CharacterWidth width,
                              std::vector<std::byte>& out) {
  const std::size_t begin = out.size();
  const std::size_t bytes = padded(sizeof(RowHeader) + wide_bytes(name, width));
  append(RowHeader{static_cast<std::uint32_t>(bytes), id}, out);
  append_wide(name, width, out);
  out.resize(begin + bytes);
  return bytes;
}

PerfError list_instances(const FoundSet& found, const ItemQuery* answered, CharacterWidth width,
                         std::vector<std::byte>& block) {
  const Counterset& set = found.described();
  RowsByName rows(!found.registrations.back().provider->trusted);
  bool any = false, is_summed = false;
  const auto add_all = [&](const ProviderView& provider, const RegisteredSet& registered) {
    for (const InstanceView& instance : registered.instances) {
      if (instance.closed) continue;
      if (is_shared(set.instances) && any) continue;
      if (!rows.shows(provider, set, instance)) continue;
      any = true;
      is_summed = is_summed || provider.trusted;
      append_row_header(instance.name, instance.id, width, block);
    }
  };
  for (const FoundRegistration& registration : found.registrations) {
    if (!is_alive(registration.provider->state)) continue;
    add_all(*registration.provider, *registration.set);
    if (answered == nullptr) continue;
    for (const SelectedSet& selected : answered->selected()) {
      const bool is_its_own =
          selected.is_on_demand() && selected.provider().record == registration.provider->record;
      if (is_its_own) add_all(selected.provider(), selected.registered());
    }
  }
  if (!any) {
    const auto answers = answered == nullptr ? nullptr : answered->answers();
    const bool trusted = found.registrations.front().provider->trusted;
    const PerfError error = error_of_unanswered(answers.get(), set.guid, trusted);
    return error != PerfError::kSuccess ? error : PerfError::kInstanceNotFound;
  }
  if (is_aggregate(set.instances) && !is_shared(set.instances) && is_summed) {
    append_row_header(kTotalName, kTotalInstanceId, width, block);
  }
  return PerfError::kSuccess;
}

}  // namespace meterbank
