// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the handles of reader.h. Each object has a mutex, and C code may use it from
// several threads: they take turns.
//
// Mutexes are taken in this order: cursor, query, catalog, samples. The two samples of an iteration
// are locked together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "meterbank/border/handle_table.hpp"
#include "meterbank/border/versioned.hpp"
#include "meterbank/c/recording.h"
#include "meterbank/reader.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::border {

struct HeldCatalog {
  explicit HeldCatalog(Catalog opened) noexcept : source(std::move(opened)) {}
  explicit HeldCatalog(recording::Recording opened) noexcept : source(std::move(opened)) {}

  // Null for a catalog of this machine now.
  [[nodiscard]] recording::Recording* recording() noexcept {
    return std::get_if<recording::Recording>(&source);
  }
  [[nodiscard]] Catalog& catalog() noexcept {
    auto* const recorded = recording();
    return recorded == nullptr ? std::get<Catalog>(source) : recorded->catalog();
  }

  std::mutex mutex;
  std::variant<Catalog, recording::Recording> source;
  std::vector<std::string> labels;  // of the providers that are listed
};

struct HeldQuery {
  explicit HeldQuery(Query compiled) noexcept : query(std::move(compiled)) {}

  // What the catalog shows, which is locked.
  void look_at(HeldCatalog& catalog) {
    const auto* const recorded = catalog.recording();
    moment.reset();
    if (recorded == nullptr) return;
    moment = {recorded->time(), recorded->coverage_of(query)};
  }

  std::mutex mutex;
  Query query;
  // Of a recording; nothing: now.
  struct Moment {
    Timestamp time;
    recording::Coverage coverage;
  };
  std::optional<Moment> moment;
};

struct HeldSample {
  std::mutex mutex;
  Sample sample;
  std::uint64_t collections = 0;  // iterations over what was collected before are over
  std::string provider, reason;   // of the answer that was given last
};

// Errors: MB_INVALID_ARGUMENT.
[[nodiscard]] Outcome<CatalogOptions> read_options(const mb_catalog_options* given);

extern HandleTable<HeldCatalog> catalogs;
extern HandleTable<HeldQuery> queries;
extern HandleTable<HeldSample> samples;

// `work(object)` with the object of a handle, which is locked meanwhile.
template <typename Object, typename Opaque, typename Work>
[[nodiscard]] Outcome<void> with(HandleTable<Object>& table, const Opaque* handle, Work&& work) {
  const auto found = table.find(number_of(handle));
  if (!found) return tl::make_unexpected(found.error());
  Object& object = **found;
  const std::lock_guard lock(object.mutex);
  return work(object);
}

// Forgets the object of a handle, if there is one.
template <typename Object, typename Opaque>
void close_handle(HandleTable<Object>& table, const Opaque* handle) noexcept {
  static_cast<void>(cross(nullptr, [&]() -> Outcome<void> {
    static_cast<void>(table.remove(number_of(handle)));
    return {};
  }));
}

[[nodiscard]] inline tl::unexpected<Refusal> refuse_null(std::string_view name) {
  return refuse(MB_INVALID_ARGUMENT, std::string(name) + " is NULL");
}

// Where a function stores a handle: NULL until it has one.
template <typename Opaque>
[[nodiscard]] Outcome<void> clear_handle(Opaque** handle, std::string_view name) {
  if (handle == nullptr) return refuse_null(name);
  *handle = nullptr;
  return {};
}

// Whether a function can fill the caller's struct, which may be of another version.
template <typename Struct>
[[nodiscard]] Outcome<void> can_fill(const Struct* target, std::string_view name) {
  if (target == nullptr) return refuse_null(name);
  if (target->size >= sizeof target->size && target->size <= kStructBytesMax) return {};
  return refuse(
      MB_INVALID_ARGUMENT,
      std::string(name) + ": size is " + std::to_string(target->size) + ", not that of any version",
      "begin with the initialiser of the struct");
}

// What the caller's version of the struct has of it. Its size stays.
template <typename Struct>
void fill_struct(Struct* target, Struct filled) noexcept {
  filled.size = target->size;
  std::memcpy(target, &filled, std::min<std::size_t>(target->size, sizeof filled));
}

}  // namespace meterbank::border
