// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/names.hpp"

#include <fmt/format.h>

#include "generator/manifest/rules/rules.hpp"
#include "generator/manifest/rules/wording.hpp"
#include "generator/manifest/vocabulary.hpp"
#include "generator/manifest/words.hpp"

namespace meterbank::generator {
namespace {

void check_name_of(const Placed<std::string>& name, Place element, NameKind kind,
                   Problems& problems) {
  const NameCheck check = check_name(name.value, kind);
  if (check.ok()) return;
  problems.add(first_known({name.place, element}), describe(check, name.value, kind),
               std::string(remedy_for(check.fault)));
}

// What people read, or URIs: the same rules, but none is needed.
void check_text(const Placed<std::string>& text, Place element, std::string_view what,
                Problems& problems) {
  if (text.value.empty()) return;
  const NameCheck check = check_name(text.value, NameKind::kCounter);
  if (check.ok()) return;
  problems.add(first_known({text.place, element}), fmt::format("{} {}", what, text_of(check.fault)),
               check.fault == NameFault::kControlCharacter
                   ? std::string("write it on one line: it is shown in tables and in metrics")
                   : std::string(remedy_for(check.fault)));
}

void check_symbol(const Placed<std::string>& symbol, Place element, std::string_view what,
                  Problems& problems) {
  if (symbol.value.empty() || is_identifier(symbol.value)) return;
  const Place place = first_known({symbol.place, element});
  if (is_keyword(symbol.value)) {
    problems.add(place,
                 fmt::format("{} {} is a keyword of C or C++", what, in_quotes(symbol.value)),
                 "generated code uses it as a name; take another");
    return;
  }
  problems.add(place, fmt::format("{} {} is not a C identifier", what, in_quotes(symbol.value)),
               "letters, digits and underscores, and no digit first");
}

// The word becomes part of a metric's name, and of C++ names, which it begins where a counter is
// more than a count; it comes from the symbol or else from the name.
template <typename Element>
void check_word(const Manifest& manifest, const Element& element, bool needs_letter,
                Problems& problems) {
  const bool has_symbol = !element.symbol.value.empty();
  const Placed<std::string>& source = has_symbol ? element.symbol : element.name;
  const Place place = first_known({source.place, element.place});
  const std::string remedy = fmt::format("say  symbol{}\"...\"  with letters and underscores",
                                         word_of(manifest.language, "=", " = "));
  if (element.word.empty()) {
    problems.add(place, fmt::format("no metric word can be made of {}", in_quotes(source.value)),
                 remedy);
  } else if (element.word.size() > kNameBytesMax) {
    problems.add(place,
                 fmt::format("the metric word of {} is longer than {} bytes",
                             in_quotes(source.value), kNameBytesMax),
                 remedy);
  } else if (needs_letter && element.word.front() >= '0' && element.word.front() <= '9') {
    problems.add(place,
                 fmt::format("the metric word of {} begins with a digit", in_quotes(source.value)),
                 remedy);
  }
}

void check_counter(const Manifest& manifest, const Counter& counter, Problems& problems) {
  const std::string who = which(counter);
  const bool is_ours = manifest.language == Language::kToml;
  const bool has_name = !counter.name.value.empty();
  const bool has_symbol = !counter.symbol.value.empty();
  const bool is_hidden = (counter.attributes.value & kNoDisplay) != 0;
  if (has_name) {
    check_name_of(counter.name, counter.place, NameKind::kCounter, problems);
  } else if (!is_base(counter.type.value) && !is_hidden) {
    problems.add(counter.place, who + " has no name",
                 fmt::format("only base counters and those with the attribute {} go without",
                             word_of(manifest.language, "noDisplay", "no_display")));
  } else if (!is_base(counter.type.value) && !has_symbol && counter.word.empty()) {
    problems.add(counter.place, who + " has neither a name nor a symbol",
                 "only base counters go without both");
  }
  if (has_symbol || (has_name && !is_base(counter.type.value))) {
    check_word(manifest, counter, is_ours || counter.form.value == ValueForm::kText, problems);
  }
  check_symbol(counter.symbol, counter.place, "counter symbol", problems);
  check_text(counter.help, counter.place,
             fmt::format("the {} of {}", word_of(manifest.language, "description", "help"), who),
             problems);
  check_text(counter.unit, counter.place, fmt::format("the unit of {}", who), problems);
  check_text(counter.uri, counter.place, fmt::format("the uri of {}", who), problems);
}

}  // namespace

void check_names(const Manifest& manifest, const Counterset& counterset, Problems& problems) {
  const std::string who = which(counterset);
  const bool is_ours = manifest.language == Language::kToml;
  check_name_of(counterset.name, counterset.place, NameKind::kCounterset, problems);
  check_symbol(counterset.symbol, counterset.place, "counterset symbol", problems);
  if (!counterset.name.value.empty() || !counterset.symbol.value.empty()) {
    check_word(manifest, counterset, is_ours, problems);
  }
  check_text(counterset.help, counterset.place,
             fmt::format("the {} of {}", word_of(manifest.language, "description", "help"), who),
             problems);
  check_text(counterset.label, counterset.place, fmt::format("the label of {}", who), problems);
  check_text(counterset.uri, counterset.place, fmt::format("the uri of {}", who), problems);
  for (const Counter& counter : counterset.counters) check_counter(manifest, counter, problems);
}

}  // namespace meterbank::generator
