// SPDX-License-Identifier: Apache-2.0
#include "pcp/names/pcp_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "exposition/family/metric_name.hpp"
#include "exposition/page/labels.hpp"
#include "meterbank/base/fnv1a.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::pcp {

std::string digits_of(std::string_view text) {
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(text)));
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash.value() ^ hash.value() >> 32U));
}

std::string metric_part(std::string_view symbol, std::string_view name) {
  std::string part = exposition::snake_case(symbol);
  if (part.empty()) part = exposition::snake_case(name);
  const std::size_t letter = part.find_first_not_of('_');
  part.erase(0, std::min(letter, part.size()));
  if (part.size() > kPartBytesMax) {
    const std::string digits = digits_of(part);
    part.resize(kPartBytesMax - digits.size() - 1);
    part.append("_").append(digits);
  }
  if (!part.empty() && part[0] >= '0' && part[0] <= '9') part.insert(0, "n");
  return part;
}

std::string instance_part(std::string_view name) {
  std::string part = exposition::clean_text(name);
  std::string result;
  result.reserve(part.size());
  for (const char character : part) {
    if (character == '\n') {
      append_utf8(kReplacementCharacter, result);
    } else {
      result += character == ' ' ? '_' : character;
    }
  }
  return result;
}

}  // namespace meterbank::pcp
