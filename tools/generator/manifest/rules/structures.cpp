// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

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
                     bool is_kernel, Problems& problems) {
  const Place place = first_known({counter.structure.place, counter.place});
  if (!counter.structure.value.empty()) {
    if (known.contains(counter.structure.value)) return;
    problems.add(place,
                 fmt::format("{} refers to a struct {} that {} has not", which(counter),
                             in_quotes(counter.structure.value), which(set)),
                 known.size() == 1
                     ? fmt::format("its only struct is {}", in_quotes(known.begin()->first))
                     : std::string("declare it in this set, or refer to one that is declared"));
  } else if (is_kernel && set.structs.size() > 1) {
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

}  // namespace

void check_structures(const Manifest& manifest, const Counterset& counterset, Problems& problems) {
  const bool is_kernel = manifest.provider.mode.value == ProviderMode::kKernel;
  const Structs known = check_structs(counterset, problems);
  if (is_kernel && known.empty()) {
    problems.add(counterset.place, which(counterset) + " has no struct",
                 "in kernel mode values are members of structs, which it has to declare");
  }
  for (const Counter& counter : counterset.counters) {
    check_reference(counterset, known, counter, is_kernel && !known.empty(), problems);
    if (!counter.field.value.empty()) {
      check_identifier(counter.field, counter.place, fmt::format("the field of {}", which(counter)),
                       problems);
    }
    if (is_kernel) check_kernel_counter(counter, problems);
  }
}

}  // namespace meterbank::generator
