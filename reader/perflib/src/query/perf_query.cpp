// SPDX-License-Identifier: Apache-2.0
#include "perf_query.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "../unanswered.hpp"
#include "meterbank/perflib/scan_interval.hpp"
#include "meterbank/shm/utf8.hpp"
#include "meterbank/windows/wide_text.hpp"

namespace meterbank {
namespace {

std::atomic<std::int64_t> scan_interval_ns{1'000'000'000};

// As on Windows: for values, and for what a callback returns when it is told of a counter.
constexpr std::chrono::seconds kTimeout{5};
constexpr std::chrono::seconds kInterestTimeout{1};
constexpr std::uint64_t kFetchWithinNs = 1'000'000'000;

void write_status(std::span<std::byte> bytes, std::size_t identifier, PerfError status) noexcept {
  const auto value = static_cast<std::uint32_t>(status);
  std::memcpy(bytes.data() + identifier + offsetof(IdentifierHeader, status), &value, sizeof value);
}

// Whether the bytes are identifiers from end to end. The status of the first invalid one says so,
// where it has a status.
bool are_identifiers(std::span<std::byte> bytes, CharacterWidth width) noexcept {
  if (bytes.size() < sizeof(IdentifierHeader) || bytes.size() > kIdentifierBytesMax) return false;
  IdentifierWalker walker(bytes, width);
  while (walker.next()) {
  }
  if (walker.fault() == BlockFault::kNone) return true;
  if (bytes.size() - walker.offset() >= sizeof(IdentifierHeader)) {
    write_status(bytes, walker.offset(), PerfError::kInvalidParameter);
  }
  return false;
}

// Nothing if the pattern is not valid text.
std::optional<QueryItem> item_of(const FoundIdentifier& identifier, CharacterWidth width) {
  auto pattern = valid_utf8_of(identifier.pattern.bytes, width);
  if (!pattern) return std::nullopt;
  const IdentifierHeader& header = identifier.header;
  return QueryItem{header.set, std::move(*pattern), header.instance, header.counter};
}

// What the providers of a set say to an item of it. One that counts it is enough, and one that
// needs not be told does; so does one whose callback takes too long.
PerfError refusal_of(const FoundSet& set, std::span<const InterestAnswer> answers) noexcept {
  PerfError refusal = PerfError::kSuccess;
  const bool trusted_only = set.registrations.front().provider->trusted;
  for (const FoundRegistration& registration : set.registrations) {
    const ProviderView& provider = *registration.provider;
    if (!is_alive(provider.state) || (trusted_only && !provider.trusted)) continue;
    const auto answer =
        std::find_if(answers.begin(), answers.end(), [&registration](const InterestAnswer& each) {
          return each.provider == registration.provider && each.set == registration.set;
        });
    if (answer == answers.end() || !is_for_consumers(answer->code)) return PerfError::kSuccess;
    if (refusal == PerfError::kSuccess) refusal = PerfError{answer->code};
  }
  return refusal;
}

std::size_t bytes_of(const QueryItem& item, CharacterWidth width) noexcept {
  const std::size_t name = item.instances.empty() ? 0 : wide_bytes(item.instances, width);
  return padded(sizeof(IdentifierHeader) + name);
}

}  // namespace

void set_scan_interval(std::chrono::nanoseconds interval) noexcept {
  // relaxed: one number that orders nothing.
  scan_interval_ns.store(interval.count(), std::memory_order_relaxed);
}

PerfError CallerBuffer::announce(std::size_t bytes) const noexcept {
  if (bytes > kResultBytesMax) return PerfError::kNoSystemResources;
  *needed = static_cast<std::uint32_t>(bytes);
  return bytes <= capacity ? PerfError::kSuccess : PerfError::kBufferTooSmall;
}

PerfError CallerBuffer::fill(std::span<const std::byte> block) const noexcept {
  const PerfError error = announce(block.size());
  if (error == PerfError::kSuccess && !block.empty()) {
    std::memcpy(target, block.data(), block.size());
  }
  return error;
}

PerfError PerfQuery::add(std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (!are_identifiers(bytes, width_)) return PerfError::kInvalidParameter;
  look_around(Timestamp::now().monotonic_ns);
  const std::vector<FoundSet> sets = find_sets(catalog_);
  const std::size_t items_before = items_.size(), bytes_before = items_bytes_;
  try {
    IdentifierWalker walker(bytes, width_);
    std::vector<std::size_t> added;
    while (const auto identifier = walker.next()) {
      const PerfError status = add_one(*identifier, sets);
      write_status(bytes, identifier->offset, status);
      if (status == PerfError::kSuccess) added.push_back(identifier->offset);
    }
    hear_refusals(bytes, added, sets);
  } catch (const std::bad_alloc&) {
    // All or nothing: another try must not add the first ones twice.
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(items_before), items_.end());
    items_bytes_ = bytes_before;
    ready_ = false;
    throw;
  }
  return PerfError::kSuccess;
}

PerfError PerfQuery::add_one(const FoundIdentifier& identifier, const std::vector<FoundSet>& sets) {
  auto item = item_of(identifier, width_);
  if (!item || count_code_points(item->instances) > kInstanceNameMax) {
    return PerfError::kInvalidParameter;
  }
  const FoundSet* const found = find_set(sets, identifier.header.set);
  if (found == nullptr) {
    return any_denied(catalog_) ? PerfError::kAccessDenied : PerfError::kSetNotFound;
  }
  const Counterset& set = found->described();
  if (item->counter_id != kAnyCounterId && find_described(set, item->counter_id) == nullptr) {
    return PerfError::kNotFound;
  }
  if (!fits(*item, set.instances)) return PerfError::kInvalidParameter;
  const std::size_t item_bytes = bytes_of(*item, width_);
  if (item_bytes > kIdentifierBytesMax - items_bytes_) return PerfError::kNoSystemResources;
  items_.push_back({std::move(*item)});
  items_bytes_ += item_bytes;
  ready_ = false;
  return PerfError::kSuccess;
}

// A callback answers for all counters that it is told of at once. Where it refuses, each item is
// told alone, beside those that were accepted.
void PerfQuery::hear_refusals(std::span<std::byte> bytes, const std::vector<std::size_t>& offsets,
                              const std::vector<FoundSet>& sets) {
  const auto is_refused = [&](const Item& item, std::span<const InterestAnswer> answers) {
    return refusal_of(*find_set(sets, item.asked.set), answers) != PerfError::kSuccess;
  };
  show_interest();
  auto answers = query_.hear_interest(kInterestTimeout);
  const auto first = items_.end() - static_cast<std::ptrdiff_t>(offsets.size());
  if (std::none_of(first, items_.end(),
                   [&](const Item& item) { return is_refused(item, answers); })) {
    return;
  }
  std::vector<Item> fresh(first, items_.end());
  items_.erase(first, items_.end());
  for (std::size_t index = 0; index < fresh.size(); ++index) {
    items_.push_back(fresh[index]);
    ready_ = false;
    if (fresh.size() > 1) {
      show_interest();
      answers = query_.hear_interest(kInterestTimeout);
    }
    items_.back().refusal = refusal_of(*find_set(sets, fresh[index].asked.set), answers);
    write_status(bytes, offsets[index], items_.back().refusal);
  }
  ready_ = false;
  show_interest();
}

PerfError PerfQuery::remove(std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (!are_identifiers(bytes, width_)) return PerfError::kInvalidParameter;
  IdentifierWalker walker(bytes, width_);
  while (const auto identifier = walker.next()) {
    write_status(bytes, identifier->offset, remove_one(*identifier));
  }
  show_interest();
  return PerfError::kSuccess;
}

PerfError PerfQuery::remove_one(const FoundIdentifier& identifier) {
  const auto item_to_remove = item_of(identifier, width_);
  if (!item_to_remove) return PerfError::kInvalidParameter;
  const std::size_t removed = std::erase_if(items_, [&](const Item& item) {
    const bool matches = is_same(item.asked, *item_to_remove);
    if (matches) items_bytes_ -= bytes_of(item.asked, width_);
    return matches;
  });
  if (removed == 0) return PerfError::kNotFound;
  ready_ = false;
  return PerfError::kSuccess;
}

PerfError PerfQuery::list(const CallerBuffer& buffer) const {
  const std::lock_guard lock(mutex_);
  if (!buffer.is_sound()) return PerfError::kInvalidParameter;
  const PerfError error = buffer.announce(items_bytes_);
  if (error != PerfError::kSuccess) return error;
  std::vector<std::byte> block;
  block.reserve(items_bytes_);
  for (std::size_t index = 0; index < items_.size(); ++index) {
    const QueryItem& item = items_[index].asked;
    const std::size_t end = block.size() + bytes_of(item, width_);
    IdentifierHeader header{};
    header.set = item.set;
    header.bytes = static_cast<std::uint32_t>(end - block.size());
    header.counter = item.counter_id;
    header.instance = item.instance_id;
    header.index = static_cast<std::uint32_t>(index);
    const auto* const begin = reinterpret_cast<const std::byte*>(&header);
    block.insert(block.end(), begin, begin + sizeof header);
    if (!item.instances.empty()) append_wide(item.instances, width_, block);
    block.resize(end);
  }
  return buffer.fill(block);
}

void PerfQuery::look_around(std::uint64_t now_ns) {
  catalog_.refresh();
  scanned_ns_ = now_ns;
}

void PerfQuery::show_interest() {
  const auto& providers = catalog_.providers();
  const bool is_affected = std::any_of(providers.begin(), providers.end(), [](const auto& one) {
    return std::any_of(one->sets.begin(), one->sets.end(), [](const RegisteredSet& set) {
      return (set.flags & (kRegistrationCallback | kRegistrationInterest)) != 0;
    });
  });
  if (is_affected) make_ready();
}

bool PerfQuery::is_waiting(std::uint64_t now_ns) const noexcept {
  return is_unfetched_ && ready_ && now_ns - sample_.time.monotonic_ns < kFetchWithinNs;
}

void PerfQuery::make_ready() {
  if (!ready_) {
    std::vector<QueryItem> accepted;
    for (const Item& item : items_) {
      if (item.refusal == PerfError::kSuccess) accepted.push_back(item.asked);
    }
    query_.replace(catalog_, std::move(accepted));
  } else {
    query_.update(catalog_);
  }
  lay_out();
  ready_version_ = catalog_.version();
  ready_ = true;
}

void PerfQuery::lay_out_blocks() {
  std::vector<ResultPlan::Refused> refused;
  for (std::size_t index = 0; index < items_.size(); ++index) {
    const PerfError refusal = items_[index].refusal;
    if (refusal != PerfError::kSuccess) refused.push_back({index, refusal});
  }
  plan_ = ResultPlan(query_, width_, refused);
}

void PerfQuery::lay_out() {
  lay_out_blocks();
  query_.prepare(sample_);
  is_unfetched_ = false;
}

PerfError PerfQuery::read(const CallerBuffer& buffer) {
  const std::lock_guard lock(mutex_);
  if (!buffer.is_sound()) return PerfError::kInvalidParameter;
  Timestamp now = Timestamp::now();
  // relaxed: one number that orders nothing.
  const std::int64_t interval = scan_interval_ns.load(std::memory_order_relaxed);
  const bool is_due = static_cast<std::int64_t>(now.monotonic_ns - scanned_ns_) >= interval;
  if (is_due || catalog_.stale()) look_around(now.monotonic_ns);
  if (!ready_ || ready_version_ != catalog_.version()) {
    make_ready();
    now = Timestamp::now();
  }
  if (!query_.asks()) {
    query_.collect(sample_, now);
  } else if (!is_waiting(now.monotonic_ns)) {
    const std::uint64_t before = query_.version();
    query_.collect(sample_, kTimeout);
    if (query_.version() != before) lay_out_blocks();
  }
  const std::size_t bytes = plan_.measure(sample_);
  const PerfError error = buffer.announce(bytes);
  is_unfetched_ = error == PerfError::kBufferTooSmall;
  if (error == PerfError::kSuccess) plan_.write(sample_, bytes, buffer.target);
  return error;
}

}  // namespace meterbank
