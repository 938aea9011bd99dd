// SPDX-License-Identifier: Apache-2.0
#include "perf_set.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "../refusal.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/names.hpp"

namespace meterbank::pcw {
namespace {

// In front of each PERF_COUNTERSET_INSTANCE.
struct RowMark {
  std::uint64_t mark = 0;
  PerfRow* row = nullptr;
};
static_assert(sizeof(RowMark) % alignof(PERF_COUNTERSET_INSTANCE) == 0);
constexpr std::uint64_t kAlive = 0x776f'7266'7265'704d;

constexpr std::size_t kSlotBytes = 8;
static_assert(sizeof(const void*) <= kSlotBytes);
static_assert(sizeof(PERF_COUNTERSET_INSTANCE) % kSlotBytes == 0);

RowMark* mark_of(PPERF_COUNTERSET_INSTANCE instance) noexcept {
  return reinterpret_cast<RowMark*>(instance) - 1;
}

// A value in the provider's memory, as it is at this moment: whole where it is aligned.
std::uint64_t fetch(const void* address, std::uint32_t bytes) noexcept {
  using Word32 [[gnu::may_alias]] = const std::uint32_t;
  using Word64 [[gnu::may_alias]] = const std::uint64_t;
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    std::uint64_t value = 0;
    std::memcpy(&value, address, bytes);
    return value;
  }
  // relaxed, both: the value orders nothing.
  if (bytes == 4) return __atomic_load_n(static_cast<Word32*>(address), __ATOMIC_RELAXED);
  return __atomic_load_n(static_cast<Word64*>(address), __ATOMIC_RELAXED);
}

}  // namespace

PerfColumns::PerfColumns(std::vector<Column> columns) : columns_(std::move(columns)) {
  std::sort(columns_.begin(), columns_.end(),
            [](const Column& left, const Column& right) { return left.id < right.id; });
}

const PerfColumns::Column* PerfColumns::find(std::uint32_t id) const noexcept {
  const auto found = std::lower_bound(
      columns_.begin(), columns_.end(), id,
      [](const Column& column, std::uint32_t wanted) { return column.id < wanted; });
  return found == columns_.end() || found->id != id ? nullptr : &*found;
}

void PerfMemory::operator()(std::byte* block) const noexcept {
  if (allocate == nullptr) {
    delete[] block;
  } else if (release != nullptr) {
    release(block, context);
  }
}

PPERF_COUNTERSET_INSTANCE PerfRow::instance() const noexcept {
  return reinterpret_cast<PPERF_COUNTERSET_INSTANCE>(block.get() + sizeof(RowMark));
}

std::byte* PerfRow::slot(const PerfColumns::Column& column) const noexcept {
  return block.get() + sizeof(RowMark) + sizeof(PERF_COUNTERSET_INSTANCE) +
         column.slot * kSlotBytes;
}

PerfRow* PerfRow::of(PPERF_COUNTERSET_INSTANCE instance) noexcept {
  if (instance == nullptr) return nullptr;
  const RowMark* const mark = mark_of(instance);
  return mark->mark == kAlive ? mark->row : nullptr;
}

PerfSet::PerfSet(Parts parts) : parts_(std::move(parts)), columns_(parts_.columns) {}

Result<void> PerfSet::publish(Provider& provider, const Callback& callback) {
  auto made = provider.add(spec(), callback);
  if (!made) return tl::make_unexpected(made.error());
  const std::lock_guard lock(mutex_);
  registration_ = std::move(*made);
  return {};
}

void PerfSet::close() noexcept {
  Registration ended;
  {
    const std::lock_guard lock(mutex_);
    ended = registration_;
  }
  ended.close();  // waits for callbacks, which lock
  const std::lock_guard lock(mutex_);
  for (const auto& [instance, row] : rows_) mark_of(instance)->mark = 0;
  rows_.clear();
}

bool PerfSet::is_taken_locked(std::string_view name, std::uint32_t id) const noexcept {
  const bool single = !has_instance_names(spec().instances);
  if (single) return !rows_.empty();
  return std::any_of(rows_.begin(), rows_.end(), [&](const auto& known) {
    return known.second->id == id && equal_folded(known.second->name, name);
  });
}

// Sizes and offsets are those of Windows; only a WCHAR may be wider.
PerfBlock PerfSet::make_block(const PerfRow& row) const {
  std::vector<std::byte> name;
  append_wide(row.name, parts_.width, name);
  const std::size_t head = sizeof(PERF_COUNTERSET_INSTANCE) + columns_.all().size() * kSlotBytes;
  const std::size_t bytes = (head + name.size() + 7) / 8 * 8;
  const PerfMemory& memory = parts_.memory;
  const std::size_t whole = sizeof(RowMark) + bytes;
  PerfBlock block(memory.allocate == nullptr
                      ? new std::byte[whole]
                      : static_cast<std::byte*>(memory.allocate(whole, memory.context)),
                  memory);
  if (block == nullptr) throw std::bad_alloc();
  std::memset(block.get(), 0, whole);
  auto* const instance = new (block.get() + sizeof(RowMark)) PERF_COUNTERSET_INSTANCE{};
  std::memcpy(&instance->CounterSetGuid, &spec().guid, sizeof(GUID));
  instance->dwSize = static_cast<ULONG>(bytes);
  instance->InstanceId = row.id;
  instance->InstanceNameOffset = static_cast<ULONG>(head);
  instance->InstanceNameSize = static_cast<ULONG>(name.size());
  std::memcpy(block.get() + sizeof(RowMark) + head, name.data(), name.size());
  return block;
}

PPERF_COUNTERSET_INSTANCE PerfSet::create(std::string_view name, std::uint32_t id, DWORD& error) {
  // The row of a set of one may have a name, which only its provider sees.
  const bool single = !has_instance_names(spec().instances);
  const auto kind = single && name.empty() ? NameKind::kSingleInstance : NameKind::kInstance;
  if (!check_name(name, kind).ok() || id > kInstanceIdMax) {
    error = refuse_as(ERROR_INVALID_PARAMETER, "a name or an id that a row cannot have");
    return nullptr;
  }
  auto row = std::make_unique<PerfRow>();
  row->provider = parts_.provider;
  row->columns = &columns_;
  row->name = name;
  row->id = id;
  row->block = make_block(*row);
  const std::lock_guard lock(mutex_);
  if (is_taken_locked(name, id)) {
    error = refuse_as(ERROR_ALREADY_EXISTS, "the row exists");
    return nullptr;
  }
  const PPERF_COUNTERSET_INSTANCE instance = row->instance();
  new (mark_of(instance)) RowMark{kAlive, row.get()};
  rows_.emplace(instance, std::move(row));
  error = ERROR_SUCCESS;
  return instance;
}

PPERF_COUNTERSET_INSTANCE PerfSet::find(std::string_view name, std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  for (const auto& [instance, row] : rows_) {
    if (row->id == id && equal_folded(row->name, name)) return instance;
  }
  return nullptr;
}

bool PerfSet::has(PPERF_COUNTERSET_INSTANCE instance) noexcept {
  const std::lock_guard lock(mutex_);
  return rows_.contains(instance);
}

bool PerfSet::remove(PPERF_COUNTERSET_INSTANCE instance) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find(instance);
  if (found == rows_.end()) return false;
  mark_of(instance)->mark = 0;
  rows_.erase(found);
  return true;
}

void PerfSet::set_reference(PerfRow& row, const PerfColumns::Column& column,
                            const void* address) noexcept {
  const std::lock_guard lock(mutex_);  // when this returns, nothing reads the address before
  // relaxed: the lock orders; the program may look at the block meanwhile.
  __atomic_store_n(reinterpret_cast<const void**>(row.slot(column)), address, __ATOMIC_RELAXED);
}

bool PerfSet::copy_row(const PerfRow& row, const CallbackRequest& request,
                       std::vector<std::uint64_t>& values) const noexcept {
  bool complete = true;
  for (const PerfColumns::Column& column : columns_.all()) {
    std::uint64_t& value = values[column.value];
    if (!column.by_reference) {
      value = fetch(row.slot(column), column.bytes);
      continue;
    }
    const auto place = static_cast<std::uintptr_t>(fetch(row.slot(column), kSlotBytes));
    const auto* const address = reinterpret_cast<const void*>(place);
    value = address == nullptr ? 0 : fetch(address, column.bytes);
    if (address == nullptr && request.wants(column.id)) complete = false;
  }
  return complete;
}

bool PerfSet::add_rows(CallbackRequest& request) {
  const bool single = !has_instance_names(spec().instances);
  const bool collects = request.reason() == CallbackReason::kCollect;
  std::vector<std::uint64_t> values(columns_.all().size());
  bool complete = true;
  const std::lock_guard lock(mutex_);
  for (const auto& [instance, row] : rows_) {
    if (request.instance_id() != kAnyInstanceId && request.instance_id() != row->id) continue;
    if (collects && !copy_row(*row, request, values)) complete = false;
    static_cast<void>(request.add(single ? std::string_view() : row->name, row->id, values));
  }
  return complete;
}

}  // namespace meterbank::pcw
