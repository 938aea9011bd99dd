// SPDX-License-Identifier: Apache-2.0
//
// The resource script with all names and descriptions, as CTRPP -rc writes one.
#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

#include "generator/output/c_text.hpp"
#include "generator/output/render.hpp"
#include "set_data.hpp"

namespace meterbank::generator {
namespace {

constexpr std::uint32_t kResourceIdMax = 0xffff;

struct Text {
  const std::string& text;
  const Placed<std::uint32_t>& id;
};

// In the order of the manifest. A counter that is not displayed may have no name.
std::vector<Text> texts_of(const Manifest& manifest) {
  std::vector<Text> texts;
  const auto add = [&](const std::string& text, const Placed<std::uint32_t>& id) {
    if (!text.empty() || id.is_said()) texts.push_back({text, id});
  };
  for (const Counterset& set : manifest.countersets) {
    add(set.name.value, set.name_id);
    add(set.help.value, set.description_id);
    for (const Counter& counter : set.counters) {
      add(counter.name.value, counter.name_id);
      add(counter.help.value, counter.description_id);
    }
  }
  return texts;
}

Result<std::map<std::uint32_t, std::string_view>> numbered(const Manifest& manifest) {
  const std::vector<Text> texts = texts_of(manifest);
  std::map<std::uint32_t, std::string_view> table;
  for (const Text& each : texts) {
    if (!each.id.is_said()) continue;
    const auto [at, is_new] = table.emplace(each.id.value, each.text);
    if (is_new || at->second == each.text) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("resource {} is two texts: '{}' and '{}'", each.id.value, at->second,
                            each.text),
                "give each text an id of its own");
  }
  const auto& base = manifest.provider.resource_base;
  std::uint32_t next = base.is_said() ? base.value : 1;
  for (const Text& each : texts) {
    if (each.id.is_said()) continue;
    while (table.contains(next)) ++next;
    table.emplace(next, each.text);
    // Beyond the limit one is enough to say so, and the number must not wrap.
    if (next++ > kResourceIdMax) break;
  }
  if (!table.empty() && table.rbegin()->first > kResourceIdMax) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("a resource id is larger than {}", kResourceIdMax),
                "ids of string resources have 16 bits");
  }
  return table;
}

}  // namespace

Result<std::string> resource_script(const Manifest& manifest, const OutputOptions& options) {
  using kainjow::mustache::data;
  const auto table = numbered(manifest);
  if (!table) return tl::make_unexpected(table.error());
  data strings(data::type::list);
  for (const auto& [id, text] : *table) {
    data each(data::type::object);
    each.set("id", std::to_string(id));
    each.set("text", resource_text(text));
    strings.push_back(each);
  }
  data page = page_data(manifest, options);
  page.set("strings", strings);
  return render("resources", page, options);
}

}  // namespace meterbank::generator
