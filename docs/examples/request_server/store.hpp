// SPDX-License-Identifier: Apache-2.0
//
// What the server does for a living: it keeps values under keys, in memory, and speaks in lines.
//
//   PUT key value    OK
//   GET key          VALUE value    or NONE
//   anything else    WHAT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace request_server {

enum class Kind : std::uint8_t { kGet, kPut, kOther };

// One request that was answered.
struct Served {
  Kind kind = Kind::kOther;
  bool failed = false;
  std::size_t bytes_in = 0, bytes_out = 0;
};

// Thread safety: any thread may call any function. Keys that fall into different shelves do not
// wait for each other.
class Store {
 public:
  void put(std::string_view key, std::string_view value) {
    const std::size_t mark = hash_(value);
    Shelf& shelf = shelf_of(key);
    const std::lock_guard lock(shelf.mutex);
    const auto found = shelf.kept.find(key);
    Kept& kept = found != shelf.kept.end() ? found->second : shelf.kept[std::string(key)];
    kept.value.assign(value);
    kept.mark = mark;
  }
  // False: there is no such value, or it is not what was put there.
  bool append_to(std::string& reply, std::string_view key) const {
    const Shelf& shelf = shelf_of(key);
    const std::lock_guard lock(shelf.mutex);
    const auto found = shelf.kept.find(key);
    if (found == shelf.kept.end() || hash_(found->second.value) != found->second.mark) return false;
    reply.append("VALUE ").append(found->second.value);
    return true;
  }

 private:
  struct Kept {
    std::string value;
    std::size_t mark = 0;  // of the value
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct Shelf {
    mutable std::mutex mutex;
    std::unordered_map<std::string, Kept, Hash, std::equal_to<>> kept;
  };

  [[nodiscard]] Shelf& shelf_of(std::string_view key) { return shelves_[hash_(key) % kShelves]; }
  [[nodiscard]] const Shelf& shelf_of(std::string_view key) const {
    return shelves_[hash_(key) % kShelves];
  }

  static constexpr std::size_t kShelves = 64;
  std::hash<std::string_view> hash_;
  std::array<Shelf, kShelves> shelves_;
};

// Appends the answer to a line, which is without its end.
inline Served answer(std::string_view line, Store& store, std::string& reply) {
  Served served{.bytes_in = line.size() + 1};
  const std::size_t before = reply.size();
  const std::string_view rest = line.substr(std::min<std::size_t>(4, line.size()));
  const std::size_t space = rest.find(' ');
  if (line.starts_with("GET ") && !rest.empty() && space == rest.npos) {
    served.kind = Kind::kGet;
    served.failed = !store.append_to(reply, rest);
    if (served.failed) reply.append("NONE");
  } else if (line.starts_with("PUT ") && space != rest.npos && space != 0) {
    served.kind = Kind::kPut;
    store.put(rest.substr(0, space), rest.substr(space + 1));
    reply.append("OK");
  } else {
    served.failed = true;
    reply.append("WHAT");
  }
  reply.push_back('\n');
  served.bytes_out = reply.size() - before;
  return served;
}

}  // namespace request_server
