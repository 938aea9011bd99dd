// SPDX-License-Identifier: Apache-2.0
#include "generator/input/xml/xml_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace meterbank::generator {
namespace {

constexpr std::size_t kReferenceBytesMax = 64;  // of what a message repeats

constexpr bool is_character(std::uint32_t point) {
  if (point == 0x9 || point == 0xA || point == 0xD) return true;
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  const bool noncharacter = point == 0xFFFE || point == 0xFFFF;
  return point >= 0x20 && point <= 0x10FFFF && !surrogate && !noncharacter;
}

// Of `text` between `&#` and `;`.
bool is_character_reference(std::string_view text) {
  const int base = text.starts_with('x') ? 16 : 10;
  if (base == 16) text.remove_prefix(1);
  std::uint32_t point = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, point, base);
  return error == std::errc() && stopped == end && is_character(point);
}

// `text` begins with `&`.
void check_reference(const SourceText& source, std::size_t at, Problems& problems) {
  const auto text = source.text().substr(at + 1, kReferenceBytesMax);
  const auto name = text.substr(0, text.find_first_of("; \t\r\n<>&\"'="));
  const bool ended = name.size() < text.size() && text[name.size()] == ';';
  if (!ended || name.empty()) {
    problems.add(source.place_of(at), "a & that begins no reference", "write &amp;");
    return;
  }
  if (name.front() == '#') {
    if (is_character_reference(name.substr(1))) return;
    problems.add(source.place_of(at), fmt::format("&{}; is not a character", name),
                 "write the character itself; a manifest is UTF-8");
    return;
  }
  constexpr std::array<std::string_view, 5> kKnown{"amp", "lt", "gt", "quot", "apos"};
  for (const auto known : kKnown) {
    if (name == known) return;
  }
  problems.add(source.place_of(at), fmt::format("entity &{}; is not defined", name),
               "write what it stands for: a manifest knows &amp; &lt; &gt; &quot; &apos; only");
}

}  // namespace

bool check_xml_text(const SourceText& source, Problems& problems) {
  const std::string_view text = source.text();
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSkipped{
      {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}}};
  for (std::size_t i = 0; (i = text.find_first_of("<&", i)) != std::string_view::npos;) {
    const auto rest = text.substr(i);
    if (rest.front() == '&') {
      check_reference(source, i++, problems);
      continue;
    }
    std::size_t next = i + 1;
    bool skipped = false;
    for (const auto& [begin, end] : kSkipped) {
      if (!rest.starts_with(begin)) continue;
      const std::size_t at = text.find(end, i + begin.size());
      if (at == std::string_view::npos) return true;  // pugixml says where it should have ended
      next = at + end.size();
      skipped = true;
    }
    if (!skipped && rest.starts_with("<!")) {
      problems.add(source.place_of(i), "a manifest needs no DOCTYPE",
                   "remove the declaration, and write what its entities stand for");
      return false;
    }
    i = next;
  }
  return true;
}

}  // namespace meterbank::generator
