// SPDX-License-Identifier: Apache-2.0
#include "cli/format/collectors/foreign_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "meterbank/base/fnv1a.hpp"

namespace meterbank::cli {

std::string replace_hidden(std::string_view text, Charset charset) {
  std::string shown;
  shown.reserve(text.size());
  TextScan scan(text, charset);
  TextPart part;
  while (scan.next(part)) {
    if (part.kind == TextPart::Kind::kShown) {
      shown += part.bytes;
    } else if (charset == Charset::kAscii) {
      shown += '?';
    } else {
      append_utf8(kReplacementCharacter, shown);
    }
  }
  return shown;
}

std::string restricted_name(std::string_view name, bool (*is_allowed)(char),
                            std::size_t bytes_max) {
  constexpr std::size_t kDigestBytes = 9;
  std::string restricted(name);
  std::replace_if(
      restricted.begin(), restricted.end(), [&](char byte) { return !is_allowed(byte); }, '_');
  if (restricted == name && name.size() <= bytes_max) return restricted;
  Fnv1a digest;
  digest.add(std::as_bytes(std::span(name)));
  if (restricted.size() > bytes_max - kDigestBytes) restricted.resize(bytes_max - kDigestBytes);
  restricted += fmt::format("-{:08x}", static_cast<std::uint32_t>(digest.value()));
  return restricted;
}

}  // namespace meterbank::cli
