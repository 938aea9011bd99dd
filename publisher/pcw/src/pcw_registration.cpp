// SPDX-License-Identifier: Apache-2.0
#include "pcw_registration.hpp"

#include "meterbank/shm/names.hpp"
#include "meterbank/windows/handle_table.hpp"
#include "refusal.hpp"

namespace meterbank::pcw {
namespace {

// The name of a row without a name, in a set whose description does not say whether rows have
// names.
constexpr std::string_view kNamelessRow = "default";
// Created rows of a set with a callback are numbered from here, away from the callback's own ids.
constexpr std::uint32_t kIdsBesideCallback = 0x8000'0000;

// Bit x: id x. A mask cannot ask for an id beyond 63; such a request asks for all.
std::uint64_t short_mask(const CallbackRequest& request) noexcept {
  const auto mask = request.counter_mask();
  for (std::size_t word = 1; word < mask.size(); ++word) {
    if (mask[word] != 0) return ~std::uint64_t{0};
  }
  return mask.empty() ? ~std::uint64_t{0} : mask.front();
}

PCW_CALLBACK_TYPE type_of(CallbackReason reason) noexcept {
  switch (reason) {
    case CallbackReason::kAddInterest:
      return PcwCallbackAddCounter;
    case CallbackReason::kRemoveInterest:
      return PcwCallbackRemoveCounter;
    case CallbackReason::kEnumerate:
      return PcwCallbackEnumerateInstances;
    default:
      return PcwCallbackCollectData;
  }
}

// While one lives, a callback may add rows.
class OpenBuffer {
 public:
  OpenBuffer(CallbackRequest& request, std::shared_ptr<PcwRegistration> registration)
      : buffer_(std::make_shared<PcwBuffer>()) {
    buffer_->request = &request;
    buffer_->registration = std::move(registration);
    handle_ = windows::HandleTable<PcwBuffer>::shared().insert(buffer_);
  }
  OpenBuffer(const OpenBuffer&) = delete;
  OpenBuffer& operator=(const OpenBuffer&) = delete;
  ~OpenBuffer() {
    windows::HandleTable<PcwBuffer>::shared().take(handle_);
    const std::lock_guard lock(buffer_->mutex);
    buffer_->request = nullptr;
  }
  [[nodiscard]] PPCW_BUFFER handle() const noexcept {
    return reinterpret_cast<PPCW_BUFFER>(handle_);
  }

 private:
  std::shared_ptr<PcwBuffer> buffer_;
  std::uintptr_t handle_ = 0;
};

NTSTATUS status_of(CallbackRequest::Added added) noexcept {
  using Added = CallbackRequest::Added;
  switch (added) {
    case Added::kYes:
    case Added::kDropped:
      return STATUS_SUCCESS;
    case Added::kReservedId:
      return refuse(STATUS_INVALID_PARAMETER_3, "an id that is reserved");
    case Added::kBadName:
      return refuse(STATUS_INVALID_PARAMETER_2,
                    "invalid name of a row: empty, too long or not UTF-16");
    case Added::kNoMemory:
      return refuse(STATUS_INSUFFICIENT_RESOURCES, "more rows than an answer can hold");
    default:
      return refuse(STATUS_INVALID_PARAMETER_1, "a request that takes no rows");
  }
}

}  // namespace

Result<void> PcwRegistration::publish() {
  if (parts_.callback != nullptr) next_id_ = kIdsBesideCallback;
  // Weak: the registration holds the provider, which holds this.
  auto published = pcw::publish(parts_.spec->spec(), [self = weak_from_this()](auto& request) {
    const auto alive = self.lock();
    return alive == nullptr ? 0U : alive->answer(request);
  });
  if (!published) return tl::make_unexpected(published.error());
  const std::lock_guard lock(mutex_);
  published_ = std::move(*published);
  return {};
}

void PcwRegistration::unregister() noexcept {
  Published ended;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    ended = std::move(published_);
  }
  ended.registration.close();
  std::map<std::uint32_t, std::shared_ptr<PcwInstance>> instances;
  {
    const std::lock_guard lock(mutex_);
    instances.swap(instances_);
  }
  for (const auto& [id, instance] : instances) {
    windows::HandleTable<PcwInstance>::shared().take(instance->handle);
    instance->in_place.close();
  }
  ended.registration = Registration();
  let_go(std::move(ended.provider));
}

std::optional<std::string> PcwRegistration::row_name(const UNICODE_STRING* name) const {
  auto text = text_of(name, parts_.width);
  if (!text) return std::nullopt;
  // There is nothing to tell one row from: sources name it as they like.
  if (!has_instance_names(parts_.spec->spec().instances)) return std::string();
  if (text->empty() && !parts_.is_described) return std::string(kNamelessRow);
  if (!check_name(*text, NameKind::kInstance).ok()) return std::nullopt;
  return text;
}

std::uint32_t PcwRegistration::next_id_locked() noexcept {
  while (next_id_ > kInstanceIdMax || instances_.contains(next_id_)) {
    next_id_ = next_id_ >= kInstanceIdMax ? 0 : next_id_ + 1;
  }
  return next_id_++;
}

// Names may repeat: the id that a row gets makes it another one.
NTSTATUS PcwRegistration::may_create_locked() const {
  if (closed_) return refuse(STATUS_INVALID_PARAMETER_2, "the registration is closed");
  const bool single = !has_instance_names(parts_.spec->spec().instances);
  if (single && !instances_.empty()) {
    return refuse(STATUS_OBJECT_NAME_COLLISION, "the set has one row, and it exists");
  }
  return STATUS_SUCCESS;
}

// Makes the instance findable and gives it a handle. No other instance has its id.
NTSTATUS PcwRegistration::enter_locked(const std::shared_ptr<PcwInstance>& instance) {
  instance->owner = weak_from_this();
  instances_.emplace(instance->id, instance);
  instance->handle = windows::HandleTable<PcwInstance>::shared().insert(instance);
  return STATUS_SUCCESS;
}

NTSTATUS PcwRegistration::create(const UNICODE_STRING* name, std::span<const PCW_DATA> blocks,
                                 std::uintptr_t& handle) {
  auto text = row_name(name);
  if (!text) return refuse(STATUS_INVALID_PARAMETER_3, "a name that this set cannot have");
  if (const NTSTATUS status = parts_.layout.check(blocks); !NT_SUCCESS(status)) return status;
  auto instance = std::make_shared<PcwInstance>();
  instance->name = std::move(*text);
  instance->blocks.assign(blocks.begin(), blocks.end());
  const std::lock_guard lock(mutex_);
  if (const NTSTATUS status = may_create_locked(); !NT_SUCCESS(status)) return status;
  instance->id = next_id_locked();
  const NTSTATUS status = enter_locked(instance);
  handle = instance->handle;
  return status;
}

NTSTATUS PcwRegistration::create_in_place(const UNICODE_STRING* name, std::uintptr_t& handle,
                                          void*& block) {
  if (!parts_.layout.is_plain_words()) {
    return refuse(STATUS_NOT_SUPPORTED,
                  "its counters do not lie one behind the other in one block");
  }
  auto text = row_name(name);
  if (!text) return refuse(STATUS_INVALID_PARAMETER_3, "a name that this set cannot have");
  auto instance = std::make_shared<PcwInstance>();
  instance->name = std::move(*text);
  const std::lock_guard lock(mutex_);
  if (const NTSTATUS status = may_create_locked(); !NT_SUCCESS(status)) return status;
  instance->id = next_id_locked();
  auto made = published_.registration.create_instance(instance->name, {.id = instance->id});
  if (!made) return refuse(made.error());
  instance->in_place = std::move(*made);
  const auto words = instance->in_place.words_in_place();
  if (words.empty()) return refuse(STATUS_UNSUCCESSFUL, "nothing is published");
  const NTSTATUS status = enter_locked(instance);
  handle = instance->handle;
  block = words.data();
  return status;
}

void PcwRegistration::close(const std::shared_ptr<PcwInstance>& instance) noexcept {
  const std::lock_guard lock(mutex_);
  if (instances_.erase(instance->id) == 0) return;
  instance->in_place.close();
}

NTSTATUS PcwRegistration::add_row(CallbackRequest& request, const UNICODE_STRING* name,
                                  std::uint32_t id, std::span<const PCW_DATA> blocks) const {
  const auto text = row_name(name);
  if (!text) return refuse(STATUS_INVALID_PARAMETER_2, "a name that this set cannot have");
  if (request.reason() != CallbackReason::kCollect) return status_of(request.add(*text, id, {}));
  if (const NTSTATUS status = parts_.layout.check(blocks); !NT_SUCCESS(status)) return status;
  std::vector<std::uint64_t> values(parts_.layout.columns());
  parts_.layout.read(blocks, values);
  return status_of(request.add(*text, id, values));
}

std::uint32_t PcwRegistration::answer(CallbackRequest& request) {
  const bool is_about_rows = request.reason() == CallbackReason::kCollect ||
                             request.reason() == CallbackReason::kEnumerate;
  if (is_about_rows) add_created_rows(request);
  if (parts_.callback == nullptr) return 0;
  const NTSTATUS status = call(request);
  return NT_SUCCESS(status) ? 0 : static_cast<std::uint32_t>(status);
}

void PcwRegistration::add_created_rows(CallbackRequest& request) {
  const std::uint32_t wanted = request.instance_id();
  std::vector<std::uint64_t> values(parts_.layout.columns());
  const std::lock_guard lock(mutex_);
  if (closed_) return;  // unregistered from inside a callback, which cannot be waited for
  for (const auto& [id, instance] : instances_) {
    if (wanted != kAnyInstanceId && wanted != id) continue;
    if (instance->blocks.empty()) continue;
    if (request.reason() == CallbackReason::kCollect) parts_.layout.read(instance->blocks, values);
    static_cast<void>(request.add(instance->name, id, values));
  }
}

NTSTATUS PcwRegistration::call(CallbackRequest& request) {
  const CountedText mask(request.instance_mask(), parts_.width);
  PCW_CALLBACK_INFORMATION information{};
  const PCW_CALLBACK_TYPE type = type_of(request.reason());
  if (type == PcwCallbackAddCounter || type == PcwCallbackRemoveCounter) {
    information.AddCounter = {short_mask(request), mask.get()};
    return parts_.callback(type, &information, parts_.context);
  }
  const OpenBuffer buffer(request, shared_from_this());
  KEVENT cancelled{0, &request.cancelled()};
  information.CollectData = {
      short_mask(request),   mask.get(),
      request.instance_id(), static_cast<BOOLEAN>(request.collects_many() ? TRUE : FALSE),
      buffer.handle(),       &cancelled};
  return parts_.callback(type, &information, parts_.context);
}

}  // namespace meterbank::pcw
