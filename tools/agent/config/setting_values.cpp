// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "agent/config/settings.hpp"
#include "agent/config/words.hpp"

namespace meterbank::agent {
Result<Compression> parse_compression(const std::string& word) {
  constexpr std::array kChoices{NamedValue<Compression>{"remote", Compression::kRemote},
                                NamedValue<Compression>{"always", Compression::kAlways},
                                NamedValue<Compression>{"never", Compression::kNever}};
  return choose("compress", word, kChoices);
}

Result<UserPolicy> parse_trust(const std::string& word) {
  constexpr std::array kChoices{NamedValue<UserPolicy>{"own", UserPolicy::kOwn},
                                NamedValue<UserPolicy>{"root", UserPolicy::kOwnAndRoot},
                                NamedValue<UserPolicy>{"everyone", UserPolicy::kEveryone}};
  return choose("trust", word, kChoices);
}

Result<std::chrono::milliseconds> parse_timeout(std::int64_t milliseconds) {
  constexpr std::int64_t kMost = 10'000;
  return parse_milliseconds("timeout", milliseconds, 1, kMost);
}

Result<std::chrono::milliseconds> parse_record_interval(std::int64_t milliseconds) {
  return parse_milliseconds("interval", milliseconds, 10, 60'000);
}

Result<std::chrono::milliseconds> parse_view_interval(std::int64_t milliseconds) {
  return parse_milliseconds("interval", milliseconds, 100, 60'000);
}

Result<std::string> parse_loopback(const std::string& text) {
  for (const std::string_view begin : {"127.", "[::1]:", "localhost:"}) {
    if (text.starts_with(begin)) return text;
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("not a loopback address: {}", text),
              "127.0.0.1:19401, and from other machines ssh -L 19401:127.0.0.1:19401");
}

Result<std::uint64_t> parse_ring_size(std::int64_t mebibytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20U;
  if (mebibytes >= 1 && mebibytes <= kMost) return static_cast<std::uint64_t>(mebibytes) << 20U;
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid size: {}", mebibytes),
              fmt::format("1 to {} MiB", kMost));
}

Result<std::string> parse_prefix(const std::string& text) {
  constexpr std::size_t kBytesMax = 64;
  bool is_sound = text.size() <= kBytesMax && (text.empty() || (text[0] >= 'a' && text[0] <= 'z'));
  for (const char character : text) {
    const bool is_letter = character >= 'a' && character <= 'z';
    const bool is_digit = character >= '0' && character <= '9';
    is_sound = is_sound && (is_letter || is_digit || character == '_');
  }
  if (is_sound) return text;
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid prefix: {}", text),
              "a letter, then letters, digits and _, as in acme_");
}

}  // namespace meterbank::agent
