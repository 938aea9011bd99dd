// SPDX-License-Identifier: Apache-2.0
//
// What holds for any text that is taken for a manifest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "generator/input/load.hpp"
#include "generator/manifest/check.hpp"
#include "generator/manifest/words.hpp"
#include "meterbank/publisher/schema.hpp"

namespace meterbank::test {

inline void demand(bool kept) {
  if (!kept) ::abort();
}

// What a long text shows a short one shows too, and sooner.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kBytesMax = 1024;
  return {reinterpret_cast<const char*>(data), std::min(size, kBytesMax)};
}

// Every problem stands somewhere in the text and says what it is; what is shown of them is text.
inline void demand_places(std::string_view text, const generator::Problems& problems) {
  const auto lines = static_cast<std::uint32_t>(1 + std::ranges::count(text, '\n'));
  for (const generator::Problem& problem : problems.all()) {
    demand(problem.place.line >= 1 && problem.place.line <= lines);
    demand(problem.place.column >= 1 && problem.place.column <= text.size() * 3 + 1);
    demand(!problem.what.empty() && problem.what.size() < 4096);
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; };
  demand(std::ranges::none_of(problems.text("m"), is_control));
}

// What passes both is a schema that can be published.
inline void demand_schemas(const generator::Manifest& manifest) {
  for (const generator::Counterset& set : manifest.countersets) {
    std::vector<CounterSpec> counters;
    demand(encode_schema(generator::spec_of(manifest, set, counters), manifest.provider.name.value)
               .has_value());
  }
}

// True if it is a manifest without any fault.
inline bool read_and_check(std::string_view text) {
  generator::Problems problems;
  const auto manifest = generator::parse_manifest(text, "m", problems);
  demand_places(text, problems);
  if (!manifest) {
    demand(!problems.empty());
    return false;
  }
  // The rules must bear whatever the readers let through, too.
  const bool has_form = problems.empty();
  generator::check(*manifest, problems);
  if (!has_form || !problems.empty()) return false;
  demand_schemas(*manifest);
  return true;
}

}  // namespace meterbank::test
