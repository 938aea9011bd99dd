// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "generator/output/documents/document.hpp"
#include "generator/output/output.hpp"
#include "generator/output/render.hpp"
#include "generator/output/wrap.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::generator {
namespace {

constexpr std::size_t kBytesMax = 80;  // of a line; all are ASCII

// The characters that roff obeys or replaces with prettier ones.
constexpr std::array kSpecial{
    std::pair{U'\\', R"(\(rs)"}, std::pair{U'"', R"(\(dq)"}, std::pair{U'\'', R"(\(aq)"},
    std::pair{U'`', R"(\(ga)"},  std::pair{U'^', R"(\(ha)"}, std::pair{U'~', R"(\(ti)"},
};

// ASCII, whatever the text: the encoding of a page is a matter of the reader's locale.
void append_escaped(std::string& out, char32_t code_point) {
  for (const auto& [special, escape] : kSpecial) {
    if (code_point == special) {
      out += escape;
      return;
    }
  }
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else {
    out += fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(code_point));
  }
}

std::string prose(std::string_view foreign) {
  const auto shown = escape_for_terminal(foreign);
  std::string_view text = shown;
  std::string out;
  // A dot at the begin of a line is a request, so a text never begins with one.
  if (text.starts_with('.')) out = "\\&";
  while (!text.empty()) {
    const auto decoded = decode_utf8(text);
    append_escaped(out, decoded.code_point);
    text.remove_prefix(decoded.length);
  }
  return out;
}

// Typed as it stands: a minus, not a hyphen that a line may be broken at.
std::string code(std::string_view text) {
  std::string out;
  for (const char c : prose(text)) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

// Requests as they are, prose on lines that fit a screen.
std::string filled(std::string_view page) {
  std::string out;
  while (!page.empty()) {
    const auto end = std::min(page.find('\n'), page.size());
    const auto line = page.substr(0, end);
    page.remove_prefix(std::min(end + 1, page.size()));
    if (line.empty() || line.starts_with('.')) {
      out.append(line).append("\n");
      continue;
    }
    for (const std::string& part : wrapped(line, kBytesMax)) {
      if (part.starts_with('.')) out += "\\&";
      out.append(part).append("\n");
    }
  }
  return out;
}

}  // namespace

Result<std::string> manual_page(const Manifest& manifest, const OutputOptions& options) {
  auto page = render("man", document_data(manifest, {prose, code}), options);
  if (page) *page = filled(*page);
  return page;
}

}  // namespace meterbank::generator
