// SPDX-License-Identifier: Apache-2.0
#include "view/place.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::view {
namespace {

constexpr std::array kScreens{std::pair{"overview", Screen::kOverview},
                              std::pair{"set", Screen::kSet},
                              std::pair{"instance", Screen::kInstance}};
constexpr std::array kGroupings{std::pair{"none", Grouping::kNone},
                                std::pair{"provider", Grouping::kProvider},
                                std::pair{"label", Grouping::kLabel}};

template <typename Names, typename Value>
std::string_view word_of(const Names& names, Value value) {
  for (const auto& [word, known] : names) {
    if (known == value) return word;
  }
  return names.front().first;
}

bool is_plain(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') ||
         std::string_view("-._~@/*,").find(byte) != std::string::npos;
}

void append_encoded(std::string& out, std::string_view value) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char byte : value) {
    if (is_plain(byte)) {
      out += byte;
      continue;
    }
    const auto bits = static_cast<unsigned char>(byte);
    out += '%';
    out += kDigits[bits >> 4U];
    out += kDigits[bits & 0xFU];
  }
}

int digit_of(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

// A browser writes a space as '+'.
std::optional<std::string> decoded(std::string_view value) {
  std::string out;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%') {
      out += value[i] == '+' ? ' ' : value[i];
      continue;
    }
    if (i + 2 >= value.size()) return std::nullopt;
    const int high = digit_of(value[i + 1]);
    const int low = digit_of(value[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return repair_utf8(out).text;
}

// Seconds with up to nine digits behind the point, as whole nanoseconds.
std::optional<std::uint64_t> nanoseconds_of(std::string_view text) {
  constexpr std::size_t kDigits = 9;
  constexpr std::uint64_t kSecondsMax = 18'000'000'000;
  const auto point = std::min(text.find('.'), text.size());
  std::uint64_t seconds = 0;
  const auto* const end = text.data() + point;
  const auto whole = std::from_chars(text.data(), end, seconds);
  if (whole.ec != std::errc{} || whole.ptr != end || seconds > kSecondsMax) return std::nullopt;
  std::string part(point < text.size() ? text.substr(point + 1) : "");
  if (part.size() > kDigits) return std::nullopt;
  part.resize(kDigits, '0');
  std::uint64_t part_ns = 0;
  const auto rest = std::from_chars(part.data(), part.data() + part.size(), part_ns);
  if (rest.ec != std::errc{} || rest.ptr != part.data() + part.size()) return std::nullopt;
  return seconds * 1'000'000'000 + part_ns;
}

std::string seconds_text(std::uint64_t time_ns) {
  return fmt::format("{}.{:09}", time_ns / 1'000'000'000, time_ns % 1'000'000'000);
}

class LinkReader {
 public:
  explicit LinkReader(Place& place) : place_(place) {}

  Result<void> take(std::string_view name, const std::string& value) {
    const std::array texts{
        std::pair{"provider", &place_.provider}, std::pair{"set", &place_.set},
        std::pair{"instance", &place_.instance}, std::pair{"counter", &place_.counter},
        std::pair{"filter", &place_.filter},     std::pair{"sort", &place_.sort}};
    for (const auto& [text, member] : texts) {
      if (name == text) return *member = value, Result<void>{};
    }
    const std::array flags{
        std::pair{"ascending", &place_.ascending}, std::pair{"hide-zeros", &place_.hide_zeros},
        std::pair{"stored", &place_.stored}, std::pair{"base-units", &place_.base_units},
        std::pair{"log", &place_.logarithmic}};
    for (const auto& [flag, member] : flags) {
      if (name == flag) return take_flag(name, value, *member);
    }
    if (name == "screen") return take_word(name, value, kScreens, place_.screen);
    if (name == "group") return take_word(name, value, kGroupings, place_.grouping);
    if (name == "pin") return place_.pins.push_back(value), Result<void>{};
    if (name == "at") return take_moment(value);
    if (name == "span") return take_span(value);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no part of a link", escape_for_terminal(name)),
                "a link that this program has made");
  }

 private:
  static Result<void> refuse(std::string_view name, const std::string& value,
                             const std::string& allowed) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}={} in a link", name, escape_for_terminal(value)), allowed);
  }
  static Result<void> take_flag(std::string_view name, const std::string& value, bool& flag) {
    if (value != "1") return refuse(name, value, fmt::format("{}=1", name));
    flag = true;
    return {};
  }
  template <typename Words, typename Value>
  static Result<void> take_word(std::string_view name, const std::string& value, const Words& words,
                                Value& member) {
    std::string allowed;
    for (const auto& [word, known] : words) {
      if (value == word) return member = known, Result<void>{};
      allowed += (allowed.empty() ? "" : ", ") + std::string(word);
    }
    return refuse(name, value, allowed);
  }
  Result<void> take_moment(const std::string& value) {
    const auto moment = nanoseconds_of(value);
    if (!moment) return refuse("at", value, "seconds since 1970: 1764213120.5");
    place_.at_ns = *moment;
    return {};
  }
  Result<void> take_span(const std::string& value) {
    const auto span = nanoseconds_of(value);
    constexpr std::uint64_t kYear = 366ULL * 86'400 * 1'000'000'000;
    if (!span || *span == 0 || *span > kYear) {
      return refuse("span", value, "seconds, of at most a year: 900");
    }
    place_.span = std::chrono::nanoseconds(*span);
    return {};
  }

  Place& place_;
};

}  // namespace

Place overview_of(const Place& place) {
  Place overview;
  overview.at_ns = place.at_ns;
  overview.span = place.span;
  return overview;
}

std::string link_of(const Place& place) {
  const Place usual;
  std::string link;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!link.empty()) link += '&';
    link.append(name).append("=");
    append_encoded(link, value);
  };
  const auto add_text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) add(name, value);
  };
  const auto add_flag = [&](std::string_view name, bool value) {
    if (value) add(name, "1");
  };
  add("screen", word_of(kScreens, place.screen));
  add_text("provider", place.provider);
  add_text("set", place.set);
  add_text("instance", place.instance);
  add_text("counter", place.counter);
  add_text("filter", place.filter);
  add_text("sort", place.sort);
  add_flag("ascending", place.ascending);
  if (place.grouping != usual.grouping) add("group", word_of(kGroupings, place.grouping));
  for (const auto& pin : place.pins) add("pin", pin);
  add_flag("hide-zeros", place.hide_zeros);
  add_flag("stored", place.stored);
  add_flag("base-units", place.base_units);
  add_flag("log", place.logarithmic);
  if (place.at_ns) add("at", seconds_text(*place.at_ns));
  if (place.span != usual.span) {
    add("span", seconds_text(static_cast<std::uint64_t>(place.span.count())));
  }
  return link;
}

Result<Place> parse_link(std::string_view link) {
  if (link.size() > kLinkBytesMax) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("a link of {} bytes", link.size()),
                fmt::format("at most {}", kLinkBytesMax));
  }
  Place place;
  LinkReader reader(place);
  while (!link.empty()) {
    const auto end = std::min(link.find('&'), link.size());
    const auto part = link.substr(0, end);
    link.remove_prefix(std::min(end + 1, link.size()));
    if (part.empty()) continue;
    const auto equals = std::min(part.find('='), part.size());
    const auto value = decoded(equals < part.size() ? part.substr(equals + 1) : "");
    if (!value) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' in a link", escape_for_terminal(part)),
                  "% with two hexadecimal digits");
    }
    if (auto taken = reader.take(part.substr(0, equals), *value); !taken) {
      return tl::unexpected(taken.error());
    }
  }
  return place;
}

}  // namespace meterbank::view
