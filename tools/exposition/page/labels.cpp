// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/labels.hpp"

#include <algorithm>
#include <array>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::exposition {

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = plain_bytes(text);
    clean.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const DecodedCodePoint front = decode_utf8(text);
    const bool is_shown =
        front.valid && (front.code_point == U'\n' || !is_control(front.code_point));
    append_utf8(is_shown ? front.code_point : kReplacementCharacter, clean);
    text.remove_prefix(front.length);
  }
  return clean;
}

bool is_free_label(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 9> kTaken = {
      "instance", "job", "le", "quantile", "provider", "pid", "uid", "id", "registration"};
  const bool is_taken = std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
  const bool begins_well = !name.empty() && (name[0] < '0' || name[0] > '9');
  return begins_well && !is_taken && !name.starts_with("__");
}

void append_escaped(std::string& out, std::string_view text, Quoted quoted) {
  for (const char character : text) {
    if (character == '\n') {
      out += "\\n";
      continue;
    }
    if (character == '\\' || (character == '"' && quoted == Quoted::kYes)) out += '\\';
    out += character;
  }
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  out.append(name).append("=\"");
  append_escaped(out, value, Quoted::kYes);
  out += '"';
}

}  // namespace meterbank::exposition
