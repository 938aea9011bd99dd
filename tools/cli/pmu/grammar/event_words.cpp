// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/grammar/event_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/arguments/option_values.hpp"

namespace meterbank::cli {
namespace {

using pmu::Item;
using pmu::ItemKind;

Item item_of(ItemKind kind, std::string_view name, std::uint32_t count) {
  Item item;
  item.kind = static_cast<std::uint32_t>(kind);
  item.name = pmu::wire_name(name);
  item.count = count;
  return item;
}

// What :u, :k and the like leave out. Breakpoints have their own letters.
std::optional<std::uint32_t> modes_left_out(std::string_view letters) {
  constexpr auto kBoth = pmu::kItemExcludesUser | pmu::kItemExcludesKernel;
  std::uint32_t left_out = kBoth;
  for (const char letter : letters) {
    if (letter == 'u') {
      left_out &= ~pmu::kItemExcludesUser;
    } else if (letter == 'k') {
      left_out &= ~pmu::kItemExcludesKernel;
    } else {
      return std::nullopt;
    }
  }
  return letters.empty() ? std::nullopt : std::optional(left_out);
}

Result<EventWord> breakpoint(std::string_view text) {
  constexpr const char* kForm = "mem:0xADDRESS[/1|2|4|8][:r|w|rw|x][:u|k]";
  const auto wrong = [&](std::string_view what) {
    return usage(fmt::format("'{}': {}", text, what), kForm);
  };
  std::string_view rest = text.substr(4);
  std::uint32_t flags = 0;
  if (const auto colon = rest.rfind(':'); colon != std::string_view::npos) {
    if (const auto left_out = modes_left_out(rest.substr(colon + 1))) {
      flags = *left_out;
      rest = rest.substr(0, colon);
    }
  }
  std::string_view access = "rw";
  if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
    access = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  std::string_view bytes = "4";
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    bytes = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  const bool is_hex = rest.starts_with("0x") || rest.starts_with("0X");
  const auto address = whole_number(is_hex ? rest.substr(2) : rest, is_hex ? 16 : 10);
  if (!address) return wrong("no address");
  const auto length = whole_number(bytes);
  if (!length || (*length != 1 && *length != 2 && *length != 4 && *length != 8)) {
    return wrong("a breakpoint watches 1, 2, 4 or 8 bytes");
  }
  EventWord word{.text = std::string(text), .item = item_of(ItemKind::kEvent, {}, 1)};
  word.is_breakpoint = true;
  word.item.configuration = *address;
  word.item.unit_mask = static_cast<std::uint32_t>(*length);
  word.item.flags = flags;
  if (access == "r" || access == "w" || access == "rw" || access == "wr") {
    const bool reads = access.find('r') != std::string_view::npos;
    const bool writes = access.find('w') != std::string_view::npos;
    word.item.code = (reads ? 1U : 0U) | (writes ? 2U : 0U);
  } else if (access == "x") {
    word.item.code = static_cast<std::uint32_t>(pmu::Watch::kExecute);
    word.item.unit_mask = sizeof(void*);  // what the kernel wants of it
  } else {
    return wrong("watched for r, w, rw or x");
  }
  return word;
}

// r01c2: the form of the event's register, of which 16 bits are the same on all machines of one
// architecture.
std::optional<Item> raw(std::string_view text) {
  if (text.size() < 2 || text.size() > 5 || text.front() != 'r') return std::nullopt;
  const auto number = whole_number(text.substr(1), 16);
  if (!number) return std::nullopt;
  const auto bits = static_cast<std::uint32_t>(*number);
  Item item = item_of(ItemKind::kEvent, {}, 1);
#if defined(__x86_64__)
  item.code = bits & 0xff;
  item.unit_mask = bits >> 8;
#else
  item.code = bits;
#endif
  return item;
}

Result<EventWord> counters(std::string_view text, std::string_view number, std::string_view name) {
  const auto count = whole_number(number);
  if (!count || *count == 0 || *count > pmu::kItemsMax) {
    return usage(fmt::format("'{}': no number of counters", text),
                 fmt::format("1 to {}", pmu::kItemsMax));
  }
  return EventWord{.text = std::string(text),
                   .item = item_of(ItemKind::kClass, name, static_cast<std::uint32_t>(*count))};
}

Result<EventWord> parse_event(std::string_view text) {
  if (text.empty()) return usage("-e: an event is empty", "cycles,instructions");
  if (text.starts_with("mem:")) return breakpoint(text);
  if (const auto star = text.find('*'); star != std::string_view::npos) {
    return counters(text, text.substr(0, star), text.substr(star + 1));
  }
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return counters(text, text, {});
  }
  std::string_view name = text;
  std::uint32_t flags = 0;
  if (const auto colon = text.rfind(':'); colon != std::string_view::npos) {
    // Names of some encoders have colons themselves.
    if (const auto left_out = modes_left_out(text.substr(colon + 1))) {
      flags = *left_out;
      name = text.substr(0, colon);
    }
  }
  if (name.size() >= pmu::kWireNameBytes) {
    return usage(fmt::format("'{}': no event has so long a name", text), "meterbank pmu list -l");
  }
  EventWord word{.text = std::string(text), .item = item_of(ItemKind::kNamedEvent, name, 1)};
  if (const auto item = raw(name)) word.item = *item;
  word.item.flags = flags;
  return word;
}

}  // namespace

Result<std::vector<EventWord>> parse_events(std::string_view text) {
  std::vector<EventWord> words;
  for (;;) {
    const auto comma = text.find(',');
    auto word = parse_event(text.substr(0, comma));
    if (!word) return tl::make_unexpected(word.error());
    if (!words.empty() && words.front().is_breakpoint != word->is_breakpoint) {
      return usage(
          fmt::format("-e: '{}' and '{}' are of different PMUs", words.front().text, word->text),
          "one run for breakpoints and one for the others");
    }
    words.push_back(std::move(*word));
    if (words.size() > pmu::kItemsMax) return usage("-e: too many events", "128 at most");
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace meterbank::cli
