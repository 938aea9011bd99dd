// SPDX-License-Identifier: Apache-2.0
#include "generator/manifest/check.hpp"

#include "generator/manifest/rules/rules.hpp"

namespace meterbank::generator {

void check(const Manifest& manifest, Problems& problems) {
  // What could not be read is missing here, and would be complained about a second time.
  if (!problems.empty()) return;
  check_provider(manifest, problems);
  check_unique(manifest, problems);
  check_resources(manifest, problems);
  for (const Counterset& set : manifest.countersets) {
    check_names(manifest, set, problems);
    check_links(manifest, set, problems);
    check_forms(manifest, set, problems);
    check_structures(manifest, set, problems);
  }
  if (!problems.empty()) return;
  // The library has the last word when the program runs. It alone knows how many words
  // an instance needs.
  std::vector<CounterSpec> counters;
  for (const Counterset& set : manifest.countersets) {
    const auto schema =
        encode_schema(spec_of(manifest, set, counters), manifest.provider.name.value);
    if (!schema) problems.add(set.place, schema.error().what, schema.error().remedy);
  }
}

}  // namespace meterbank::generator
