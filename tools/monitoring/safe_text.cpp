// SPDX-License-Identifier: Apache-2.0
#include "monitoring/safe_text.hpp"

#include <fmt/format.h>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::monitoring {
namespace {

constexpr char32_t kWordJoiner = 0x2060;  // invisible, and part of no name

void append_yaml_escape(char32_t code_point, std::string& out) {
  const auto value = static_cast<std::uint32_t>(code_point);
  if (code_point == U'\n') {
    out += "\\n";
  } else {
    out += value < 0x10000 ? fmt::format("\\u{:04X}", value) : fmt::format("\\U{:08X}", value);
  }
}

}  // namespace

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  TextScan scan(text);
  for (TextPart part; scan.next(part);) {
    if (part.kind != TextPart::Kind::kShown) {
      const bool is_hidden = part.kind == TextPart::Kind::kHidden;
      append_yaml_escape(is_hidden ? part.code_point : kReplacementCharacter, out);
      continue;
    }
    for (const char character : part.bytes) {
      if (character == '"' || character == '\\') out += '\\';
      out += character;
    }
  }
  return out + '"';
}

std::string template_text(std::string_view text) {
  std::string out;
  for (const char character : text) {
    // Each one alone: two of them could also meet where this text ends and the next begins.
    if (character == '{') {
      out += R"({{"{"}})";
    } else {
      out += character;
    }
  }
  return out;
}

std::string grafana_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    const bool is_bracket = text[at] == '[' && text.substr(at + 1).starts_with('[');
    if (text[at] == '$' || is_bracket) append_utf8(kWordJoiner, out);
  }
  return out;
}

}  // namespace meterbank::monitoring
