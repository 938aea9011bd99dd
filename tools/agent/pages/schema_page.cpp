// SPDX-License-Identifier: Apache-2.0
#include "agent/pages/schema_page.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "exposition/page/labels.hpp"

namespace meterbank::agent {

using nlohmann::json;

std::string schema_page(const exposition::PageLayout& layout) {
  json metrics = json::array();
  for (const exposition::PageFamily& family : layout.families) {
    json counters = json::array();
    for (const exposition::FamilyPart& part : family.parts) {
      const exposition::RowBlock& block = layout.blocks[part.block];
      counters.push_back({{"provider", block.provider_name},
                          {"counterset", block.set_symbol},
                          {"guid", block.set->guid.text()},
                          {"counter", exposition::clean_text(part.counter->symbol)},
                          {"id", part.counter->id},
                          {"type", meterbank::name_of(part.counter->type)},
                          {"unit", exposition::clean_text(part.counter->unit)},
                          {"rows", block.rows()}});
    }
    metrics.push_back({{"name", family.full_name()},
                       {"type", exposition::name_of(family.type)},
                       {"unit", family.unit},
                       {"help", family.help},
                       {"counters", std::move(counters)}});
  }
  return json{{"metrics", std::move(metrics)}}.dump(2) + "\n";
}

}  // namespace meterbank::agent
