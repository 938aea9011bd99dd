// SPDX-License-Identifier: Apache-2.0
#include "set_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "generator/manifest/words.hpp"
#include "generator/output/c_text.hpp"

namespace meterbank::generator {
namespace {

using kainjow::mustache::data;

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", c_text(text)); }

// {0xd2ffffff, 0xc923, 0x4794, {0xb6, ...}}
std::string guid_initializer(const Guid& guid) {
  return fmt::format("{{0x{:08x}, 0x{:04x}, 0x{:04x}, {{0x{:02x}}}}}", guid.part1, guid.part2,
                     guid.part3, fmt::join(guid.part4, ", 0x"));
}

// The same without braces, as DEFINE_GUID takes it.
std::string guid_arguments(const Guid& guid) {
  std::string text = guid_initializer(guid);
  std::erase_if(text, [](char c) { return c == '{' || c == '}'; });
  return text;
}

// perf_counter_rawcount is PERF_COUNTER_RAWCOUNT in winperf.h, which has no perf_counter_composite.
std::string macro_of(CounterType type) {
  if (type == CounterType::kComposite) return fmt::format("{:#010x}", bits_of(type));
  return upper_case(name_of(type));
}

// As the manifest writes it, but a word like `bytes` must not become a macro.
std::string macro_of(const Counterset& counterset, const Counter& counter) {
  if (counter.symbol.value != counter.word) return counter.symbol.value;
  return upper_case(fmt::format("{}_{}", counterset.word, counter.word));
}

std::string_view macro_of(InstanceKind kind) noexcept {
  switch (kind) {
    case InstanceKind::kMultiple:
      return "PERF_COUNTERSET_MULTI_INSTANCES";
    case InstanceKind::kGlobalAggregate:
      return "PERF_COUNTERSET_SINGLE_AGGREGATE";
    case InstanceKind::kMultipleAggregate:
      return "PERF_COUNTERSET_MULTI_AGGREGATE";
    case InstanceKind::kGlobalAggregateHistory:
      return "PERF_COUNTERSET_SINGLE_AGGREGATE_HISTORY";
    default:
      return "PERF_COUNTERSET_SINGLE_INSTANCE";
  }
}

std::string detail_of(std::uint32_t detail) {
  if (detail == 100) return "PERF_DETAIL_NOVICE";
  return detail == 200 ? "PERF_DETAIL_ADVANCED" : std::to_string(detail);
}

constexpr std::array<std::string_view, 5> kAggregates{"PERF_AGGREGATE_UNDEFINED",
                                                      "PERF_AGGREGATE_TOTAL", "PERF_AGGREGATE_AVG",
                                                      "PERF_AGGREGATE_MIN", "PERF_AGGREGATE_MAX"};

std::string attributes_of(std::uint64_t attributes) {
  constexpr std::array<std::string_view, 5> kBits{
      "PERF_ATTRIB_BY_REFERENCE", "PERF_ATTRIB_NO_DISPLAYABLE", "PERF_ATTRIB_NO_GROUP_SEPARATOR",
      "PERF_ATTRIB_DISPLAY_AS_REAL", "PERF_ATTRIB_DISPLAY_AS_HEX"};
  std::string text;
  for (std::size_t bit = 0; bit < kBits.size(); ++bit) {
    if ((attributes >> bit & 1) == 0) continue;
    if (!text.empty()) text += " | ";
    text += kBits[bit];
  }
  return text.empty() ? "0" : text;
}

std::string links_of(const CounterSpec& counter) {
  const std::array links{counter.base, counter.time, counter.frequency, counter.multi};
  const auto is_none = [](std::uint32_t link) { return link == kNoCounter; };
  if (std::all_of(links.begin(), links.end(), is_none)) return "METERBANK_NO_LINKS";
  std::string text;
  for (const std::uint32_t link : links) {
    if (!text.empty()) text += ", ";
    text += is_none(link) ? "METERBANK_NO_COUNTER" : std::to_string(link);
  }
  return "{" + text + "}";
}

// The members of a description that are not what they are anyway.
class Members {
 public:
  void add(std::string_view member, const std::string& value) {
    data each(data::type::object);
    each.set("member", std::string(member));
    each.set("value", value);
    all_.push_back(each);
  }
  void add_text(std::string_view member, std::string_view text) {
    if (!text.empty()) add(member, quoted(text));
  }
  [[nodiscard]] data take() && { return std::move(all_); }

 private:
  data all_{data::type::list};
};

data described(const CounterSpec& counter) {
  Members members;
  members.add_text("Name", counter.name);
  members.add_text("Symbol", counter.symbol);
  members.add_text("Unit", counter.unit);
  members.add_text("Help", counter.help);
  members.add("Links", links_of(counter));
  if (counter.scale != 0) members.add("Scale", std::to_string(counter.scale));
  if (counter.detail != 100) members.add("Detail", detail_of(counter.detail));
  if (counter.aggregate != kAggregateUndefined && counter.aggregate < kAggregates.size()) {
    members.add("Aggregate", std::string(kAggregates[counter.aggregate]));
  }
  if (counter.attributes != 0) members.add("Attributes", attributes_of(counter.attributes));
  if (counter.form == ValueForm::kSigned) members.add("Form", "METERBANK_FORM_SIGNED");
  if (counter.form == ValueForm::kReal) members.add("Form", "METERBANK_FORM_REAL");
  return std::move(members).take();
}

data described(const CountersetSpec& set) {
  Members members;
  members.add_text("Help", set.help);
  members.add_text("Label", set.label);
  return std::move(members).take();
}

// What stands in our manifests and not in Windows headers: a value there is one word, on its own.
std::optional<std::string> foreign_part(const CountersetSpec& set) {
  if (set.stamped) return "stamped";
  if (set.cuts) return "cuts";
  if (set.sharded || set.shards != 0 || set.by_processor) return "sharded";
  for (const CounterSpec& counter : set.counters) {
    const std::string which = fmt::format("counter {}: ", counter.id);
    if (counter.form == ValueForm::kText) return which + "text";
    if (counter.form == ValueForm::kDistribution) return which + "histogram";
    if (counter.timed) return which + "timed";
  }
  return std::nullopt;
}

// PerfLib gives each counter 8 bytes, behind the struct of an instance, whatever its width.
data counter_data(const CounterSpec& counter, std::size_t index) {
  const std::uint32_t width = width_of(counter.type);
  data object(data::type::object);
  object.set("id", std::to_string(counter.id));
  object.set("type", macro_of(counter.type));
  object.set("manifest_type", std::string(name_of(counter.type)));
  object.set("width", std::to_string(width));
  object.set("size", width == 4 ? "sizeof(ULONG)" : "sizeof(ULONGLONG)");
  object.set("described", described(counter));
  object.set("attributes", attributes_of(counter.attributes));
  object.set("detail", detail_of(counter.detail));
  object.set("scale", std::to_string(counter.scale));
  object.set("offset", std::to_string(8 * index));
  return object;
}

// Parameters are called as the manifest calls the structs, unless something else is called that.
std::vector<std::string> parameters_of(const Counterset& counterset) {
  std::vector<std::string> taken{"Instance", "Name", "Buffer", "Id", "Data"};
  for (const StructSpec& each : counterset.structs) taken.push_back(each.type.value);
  std::vector<std::string> parameters;
  for (const StructSpec& each : counterset.structs) {
    std::string parameter = each.name.value;
    while (std::find(taken.begin(), taken.end(), parameter) != taken.end()) parameter += "Values";
    taken.push_back(parameter);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

data struct_list(const Counterset& counterset) {
  const auto parameters = parameters_of(counterset);
  data list(data::type::list);
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    data object(data::type::object);
    object.set("type", counterset.structs[index].type.value);
    object.set("parameter", parameters[index]);
    object.set("initializer", fmt::format("{{{0}, sizeof(*{0})}}", parameters[index]));
    list.push_back(object);
  }
  return list;
}

// The struct that holds a counter; where there is a single one it is that, whatever is said.
const StructSpec* struct_of(const Counterset& counterset, const Counter& counter) noexcept {
  const auto& structs = counterset.structs;
  if (structs.size() == 1) return structs.data();
  const auto found = std::find_if(structs.begin(), structs.end(), [&](const StructSpec& each) {
    return each.name.value == counter.structure.value;
  });
  return found == structs.end() ? nullptr : &*found;
}

tl::unexpected<Error> unfit(const Counterset& counterset, const std::string& why,
                            std::string remedy) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("counterset '{}': {}", counterset.name.value, why), std::move(remedy));
}

}  // namespace

std::string windows_symbol(const std::string& symbol, const std::string& word) {
  return symbol.empty() || symbol == word ? camel_case(word) : symbol;
}

data page_data(const Manifest& manifest, const OutputOptions& options) {
  Guid provider = manifest.provider.guid.value;
  if (provider.is_zero()) provider = Guid::from_name(manifest.provider.name.value, "");
  data page(data::type::object);
  page.set("file", comment_text(file_name_of(manifest)));
  page.set("hash", hash_text_of(manifest));
  page.set("provider", comment_text(manifest.provider.name.value));
  page.set("prefix", options.prefix);
  page.set("provider_guid", guid_initializer(provider));
  return page;
}

data symbol_data(const Manifest& manifest, const Counterset& counterset) {
  const Guid guid = guid_of(manifest, counterset);
  data macros(data::type::list);
  for (const Counter& counter : counterset.counters) {
    if (counter.symbol.value.empty()) continue;
    data macro(data::type::object);
    macro.set("macro", macro_of(counterset, counter));
    macro.set("id", std::to_string(counter.id.value));
    macros.push_back(macro);
  }
  data object(data::type::object);
  object.set("name", comment_text(counterset.name.value));
  object.set("c_name", c_text(counterset.name.value));
  object.set("set", windows_symbol(counterset.symbol.value, counterset.word));
  object.set("guid", guid_initializer(guid));
  object.set("guid_arguments", guid_arguments(guid));
  object.set("has_macros", !macros.is_empty_list());
  object.set("macros", macros);
  return object;
}

Result<data> code_data(const Manifest& manifest, const Counterset& counterset) {
  std::vector<CounterSpec> specs;
  const CountersetSpec spec = spec_of(manifest, counterset, specs);
  if (const auto foreign = foreign_part(spec)) {
    return unfit(counterset, fmt::format("no Windows header can hold '{}'", *foreign),
                 "the C++ header can");
  }
  const bool is_kernel = manifest.provider.mode.value == ProviderMode::kKernel;
  data counters(data::type::list);
  for (std::size_t index = 0; index < specs.size(); ++index) {
    data object = counter_data(specs[index], index);
    if (is_kernel) {
      const Counter& counter = counterset.counters[index];
      const StructSpec* const holder = struct_of(counterset, counter);
      if (holder == nullptr || counter.field.value.empty()) {
        return unfit(counterset,
                     fmt::format("counter {} has no struct or no field", counter.id.value),
                     "in kernel mode each counter is a field of a struct");
      }
      object.set("struct", holder->type.value);
      object.set("struct_index", std::to_string(holder - counterset.structs.data()));
      object.set("field", counter.field.value);
    }
    counters.push_back(object);
  }
  data object = symbol_data(manifest, counterset);
  object.set("symbol", std::string(spec.symbol));
  object.set("kind", std::string(macro_of(spec.instances)));
  object.set("count", std::to_string(specs.size()));
  object.set("described", described(spec));
  object.set("counters", counters);
  object.set("structs", struct_list(counterset));
  return object;
}

}  // namespace meterbank::generator
