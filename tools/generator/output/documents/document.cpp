// SPDX-License-Identifier: Apache-2.0
#include "generator/output/documents/document.hpp"

#include <fmt/format.h>

#include <utility>

#include "generator/manifest/words.hpp"

namespace meterbank::generator {
namespace {

namespace mustache = kainjow::mustache;

// The words of the command line tool for what a reader makes of the stored numbers.
std::string_view kind_of(const Counter& counter) {
  if (counter.form.value == ValueForm::kDistribution) return "distribution";
  switch (counter.type.value) {
    case CounterType::kText:
      return "text";
    case CounterType::kSampleCounter:
      return "rate";
    case CounterType::kDelta:
    case CounterType::kLargeDelta:
      return "change";
    case CounterType::kAverageTimer:
    case CounterType::kAverageBulk:
    case CounterType::kQueueLength:
    case CounterType::kLargeQueueLength:
    case CounterType::kQueueLength100Ns:
    case CounterType::kQueueLengthObject:
      return "average";
    default:
      break;
  }
  const auto suffix = suffix_of(counter.type.value);
  if (suffix == "/sec") return "rate";
  if (suffix == "%") return "ratio";
  return suffix == "secs" ? "time" : "level";
}

// Of the number that is shown, which need not be that of the stored one.
std::string shown_unit(const Counter& counter) {
  const auto kind = kind_of(counter);
  const auto& unit = counter.unit.value;
  if (kind == "rate") return (unit.empty() ? "1" : unit) + "/s";
  if (kind == "ratio") return "%";
  if (kind == "time" || counter.type.value == CounterType::kAverageTimer) return "s";
  return unit;
}

std::string_view type_of(const Counter& counter) {
  if (counter.form.value == ValueForm::kDistribution) return "histogram";
  if (counter.form.value == ValueForm::kText) return "text";
  return name_of(counter.type.value);
}

std::string instances_of(const Counterset& set) {
  const auto& label = set.label.value;
  switch (set.instances.value) {
    case InstanceKind::kSingle:
      return "It has one row.";
    case InstanceKind::kMultiple:
      return label.empty() ? "It has several instances."
                           : fmt::format("It has one instance for each {}.", label);
    case InstanceKind::kMultipleAggregate:
      return label.empty()
                 ? "It has several instances, and a row over all of them."
                 : fmt::format("It has one instance for each {}, and a row over all.", label);
    case InstanceKind::kGlobalAggregate:
      return "It has one row, made of those of all providers.";
    case InstanceKind::kGlobalAggregateHistory:
      return "It has one row, made of those of all providers, also of those that have ended.";
  }
  return {};
}

class DocumentData {
 public:
  explicit DocumentData(const Escapes& escapes) : escapes_(escapes) {}

  [[nodiscard]] mustache::data of(const Manifest& manifest) const {
    const auto& provider = manifest.provider;
    auto word = snake_case(provider.symbol.value);
    if (word.empty()) word = snake_case(provider.name.value);
    if (word.empty()) word = "counters";
    auto title = word;
    for (char& c : title) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    mustache::data data;
    data.set("file", escapes_.code(file_name_of(manifest)));
    data.set("hash", hash_text_of(manifest));
    data.set("provider", escapes_.prose(provider.name.value));
    data.set("word", escapes_.code(word));
    data.set("title", escapes_.code(title));
    if (!provider.guid.value.is_zero()) {
      data.set("provider_guid", escapes_.code(provider.guid.value.text()));
    }
    mustache::data sets = mustache::data::type::list;
    for (const auto& set : manifest.countersets) sets << of(manifest, set);
    if (!manifest.countersets.empty()) {
      const auto& first = manifest.countersets.front();
      data.set("example", escapes_.code(first.word + "/*"));
    }
    data.set("countersets", sets);
    return data;
  }

 private:
  [[nodiscard]] mustache::data of(const Manifest& manifest, const Counterset& set) const {
    const bool has_names = has_instance_names(set.instances.value);
    const auto windows_path = fmt::format(R"(\{}{})", set.name.value, has_names ? "(*)" : "");
    const auto path = set.word + (has_names ? "/*" : "");
    mustache::data data;
    data.set("name", escapes_.prose(set.name.value));
    data.set("path", escapes_.code(path));
    data.set("windows_path", escapes_.code(windows_path));
    data.set("guid", escapes_.code(guid_of(manifest, set).text()));
    data.set("instances", escapes_.prose(instances_of(set)));
    if (!set.help.value.empty()) data.set("help", escapes_.prose(set.help.value));
    mustache::data counters = mustache::data::type::list;
    for (const auto& counter : set.counters) {
      if (!is_base(counter.type.value)) counters << of(counter, path, windows_path);
    }
    data.set("counters", counters);
    return data;
  }

  [[nodiscard]] mustache::data of(const Counter& counter, const std::string& path,
                                  const std::string& windows_path) const {
    mustache::data data;
    data.set("name", escapes_.prose(counter.name.value));
    data.set("path", escapes_.code(fmt::format("{}/{}", path, counter.word)));
    data.set("windows_path",
             escapes_.code(fmt::format(R"({}\{})", windows_path, counter.name.value)));
    data.set("id", fmt::format("{}", counter.id.value));
    const auto kind = kind_of(counter);
    data.set("article", kind.starts_with('a') ? "An" : "A");
    data.set("kind", std::string(kind));
    data.set("type", escapes_.code(type_of(counter)));
    const auto unit = shown_unit(counter);
    if (!unit.empty()) data.set("unit", escapes_.code(unit));
    if (!counter.help.value.empty()) data.set("help", escapes_.prose(counter.help.value));
    if (counter.base.value != kNoCounter) data.set("base", fmt::format("{}", counter.base.value));
    return data;
  }

  const Escapes& escapes_;
};

}  // namespace

mustache::data document_data(const Manifest& manifest, const Escapes& escapes) {
  return DocumentData(escapes).of(manifest);
}

}  // namespace meterbank::generator
