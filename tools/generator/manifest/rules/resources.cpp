// SPDX-License-Identifier: Apache-2.0
//
// Numbers of strings in the resource script. Schema 2.0 wants them said one by one, 1.1 counts them
// from resourceBase; in TOML both are possible and neither is necessary.
#include <fmt/format.h>

#include <map>

#include "generator/manifest/rules/rules.hpp"
#include "generator/manifest/rules/wording.hpp"

namespace meterbank::generator {
namespace {

constexpr std::uint32_t kResourceMax = 0xffff;
constexpr std::uint32_t kSchemaWithIds = 20;

class Resources {
 public:
  Resources(const Manifest& manifest, Problems& problems)
      : is_xml_(manifest.language == Language::kXml),
        has_ids_(manifest.schema_version.value >= kSchemaWithIds),
        problems_(problems) {}

  void check_id(const Placed<std::uint32_t>& id, std::string_view word,
                const Placed<std::string>& text, Place element, const std::string& who) {
    if (!id.is_said()) {
      if (is_xml_ && has_ids_ && !text.value.empty()) {
        problems_.add(element, fmt::format("{} has no {}", who, word),
                      "schemaVersion 2.0 wants one; 1.1 does without");
      }
      return;
    }
    if (is_xml_ && !has_ids_) {
      problems_.add(id.place,
                    fmt::format("{} has a {}, which schemaVersion 1.1 does not know", who, word),
                    "leave it out, or say  schemaVersion=\"2.0\"");
      return;
    }
    if (id.value == 0 || id.value > kResourceMax) {
      problems_.add(id.place, fmt::format("{} of {} is {}", word, who, id.value),
                    fmt::format("1 to {}: resources have 16-bit numbers", kResourceMax));
      return;
    }
    const auto [first, is_first] = texts_.try_emplace(id.value, &text, id.place);
    if (is_first || first->second.first->value == text.value) return;
    problems_.add(id.place, fmt::format("resource {} stands for two texts", id.value),
                  fmt::format("the first is {}; give this one another number",
                              line_of(first->second.second)));
  }

  template <typename Element>
  void check_element(const Element& element, const std::string& who) {
    check_id(element.name_id, is_xml_ ? "nameID" : "name_id", element.name, element.place, who);
    check_id(element.description_id, is_xml_ ? "descriptionID" : "description_id", element.help,
             element.place, who);
  }

  void check_base(const Placed<std::uint32_t>& base) {
    if (!base.is_said()) return;
    if (is_xml_ && has_ids_) {
      problems_.add(base.place, "resourceBase, which schemaVersion 2.0 does not know",
                    "each nameID and descriptionID says its own number there");
    } else if (base.value > kResourceMax) {
      problems_.add(base.place,
                    fmt::format("{} is {}", is_xml_ ? "resourceBase" : "resource_base", base.value),
                    fmt::format("at most {}: resources have 16-bit numbers", kResourceMax));
    }
  }

 private:
  bool is_xml_;
  bool has_ids_;
  Problems& problems_;
  std::map<std::uint32_t, std::pair<const Placed<std::string>*, Place>> texts_;
};

}  // namespace

void check_resources(const Manifest& manifest, Problems& problems) {
  Resources resources(manifest, problems);
  resources.check_base(manifest.provider.resource_base);
  for (const Counterset& set : manifest.countersets) {
    resources.check_element(set, which(set));
    for (const Counter& counter : set.counters) resources.check_element(counter, which(counter));
  }
}

}  // namespace meterbank::generator
