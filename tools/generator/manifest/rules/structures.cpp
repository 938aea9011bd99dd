// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <utility>

#include "generator/manifest/rules/rules.hpp"
#include "generator/manifest/rules/wording.hpp"
#include "generator/manifest/words.hpp"

namespace meterbank::generator {
namespace {

void check_identifier(const Placed<std::string>& text, Place element, const std::string& what,
                      Problems& problems) {
  if (is_identifier(text.value)) return;
  const Place place = first_known({text.place, element});
  if (text.value.empty()) {
    problems.add(place, what + " is missing", "it is a name in the C code of the provider");
  } else {
    problems.add(place, fmt::format("{} {} is not a C identifier", what, in_quotes(text.value)),
                 "letters, digits and underscores, no digit first, and no keyword of C or C++");
  }
}

using Structs = std::map<std::string_view, Place>;

Structs check_structs(const Counterset& set, Problems& problems) {
  Structs known;
  for (const StructSpec& each : set.structs) {
    check_identifier(each.name, each.place, "the name of a struct", problems);
    check_identifier(each.type, each.place, "the type of a struct", problems);
    const Place place = first_known({each.name.place, each.place});
    const auto [first, is_first] = known.try_emplace(each.name.value, place);
    if (is_first || each.name.value.empty()) continue;
    problems.add(
        place, fmt::format("struct {} is declared twice", in_quotes(each.name.value)),
        fmt::format("the first is {}; give this one another name", line_of(first->second)));
  }
  return known;
}

void check_reference(const Counterset& set, const Structs& known, const Counter& counter,
                     Problems& problems) {
  const Place place = first_known({counter.structure.place, counter.place});
  if (!counter.structure.value.empty()) {
    // As CTRPP, which takes any name where there is no choice.
    if (known.contains(counter.structure.value) || set.structs.size() == 1) return;
    problems.add(place,
                 fmt::format("{} refers to a struct {} that {} has not", which(counter),
                             in_quotes(counter.structure.value), which(set)),
                 "declare it in this set, or refer to one that is declared");
  } else if (set.structs.size() > 1) {
    problems.add(place, fmt::format("{} does not say in which struct its field is", which(counter)),
                 "`struct` can be left out only where a set has a single one");
  }
}

// In kernel mode a counter is the member of a structure, described by 16-bit numbers.
void check_kernel_counter(const Counter& counter, Problems& problems) {
  constexpr std::uint32_t kIdMax = 0xffff;
  const Place place = counter.place;
  if (counter.field.value.empty()) {
    problems.add(place, which(counter) + " has no field",
                 "in kernel mode its value is a member of a struct: say which");
  }
  if (counter.id.value > kIdMax && counter.id.value != kNoCounter) {
    problems.add(first_known({counter.id.place, place}),
                 fmt::format("counter id {} does not fit 16 bits", counter.id.value),
                 fmt::format("ids go up to {} in kernel mode", kIdMax));
  }
  const ValueForm form = counter.form.value;
  if (form == ValueForm::kText || form == ValueForm::kDistribution || counter.timed.value) {
    problems.add(first_known({counter.timed.place, counter.form.place, counter.type.place, place}),
                 which(counter) +
                     " is more than a number, and kernel mode publishes members of "
                     "structs",
                 "texts, distributions and timed values are for user mode");
  }
}

void check_kernel_mode(const Counterset& counterset, Problems& problems) {
  const Structs known = check_structs(counterset, problems);
  if (known.empty()) {
    problems.add(counterset.place, which(counterset) + " has no struct",
                 "in kernel mode values are members of structs, which it has to declare");
  }
  for (const Counter& counter : counterset.counters) {
    if (!known.empty()) check_reference(counterset, known, counter, problems);
    if (!counter.field.value.empty()) {
      check_identifier(counter.field, counter.place, fmt::format("the field of {}", which(counter)),
                       problems);
    }
    check_kernel_counter(counter, problems);
  }
}

// In user mode a provider sets each value by a call, and the schema of Windows allows no structs.
void check_user_mode(const Manifest& manifest, const Counterset& counterset, Problems& problems) {
  const std::string_view kernel = word_of(
      manifest.language, R"(providerType="kernelMode" for the provider)", R"(mode = "kernel")");
  for (const StructSpec& each : counterset.structs) {
    problems.add(
        first_known({each.place, each.name.place}),
        fmt::format("{} declares a struct, and its provider is in user mode", which(counterset)),
        fmt::format("leave it out, or say  {}", kernel));
  }
  for (const Counter& counter : counterset.counters) {
    for (const auto& [attribute, word] :
         {std::pair(&counter.structure, "struct"), std::pair(&counter.field, "field")}) {
      if (attribute->value.empty()) continue;
      problems.add(
          first_known({attribute->place, counter.place}),
          fmt::format("{} has a {}, and its provider is in user mode", which(counter), word),
          fmt::format("leave it out, or say  {}", kernel));
    }
  }
}

}  // namespace

void check_structures(const Manifest& manifest, const Counterset& counterset, Problems& problems) {
  if (manifest.provider.mode.value == ProviderMode::kKernel) {
    check_kernel_mode(counterset, problems);
  } else {
    check_user_mode(manifest, counterset, problems);
  }
}

}  // namespace meterbank::generator
