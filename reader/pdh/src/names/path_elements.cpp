// SPDX-License-Identifier: Apache-2.0
#include "path_elements.hpp"

#include <new>
#include <utility>

#include "meterbank/reader/path.hpp"

namespace meterbank::pdh {
namespace {

// The text that a pattern of a path was made of: its only escapes are before backslashes.
std::string text_of_pattern(std::string_view pattern) {
  std::string text;
  text.reserve(pattern.size());
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (pattern[index] == '\\' && index + 1 < pattern.size()) ++index;
    text.push_back(pattern[index]);
  }
  return text;
}

std::optional<std::string> text_of_pattern(const std::optional<std::string>& pattern) {
  if (!pattern) return std::nullopt;
  return text_of_pattern(std::string_view(*pattern));
}

void append_index(const std::optional<std::uint32_t>& index, std::string& out) {
  if (!index || *index == 0) return;
  out.append("#").append(*index == kAnyInstanceIndex ? "*" : std::to_string(*index));
}

bool say_the_same(const PathElements& left, const PathElements& right) {
  return left.machine == right.machine && left.object == right.object &&
         left.whole_instance() == right.whole_instance() &&
         left.instance.has_value() == right.instance.has_value() &&
         left.index.value_or(0) == right.index.value_or(0) && left.counter == right.counter;
}

}  // namespace

std::string PathElements::whole_instance() const {
  if (!instance) return {};
  return parent ? *parent + "/" + *instance : *instance;
}

std::optional<PathElements> parse_elements(std::string_view path) {
  if (!path.starts_with('\\')) return std::nullopt;
  const Result<CounterPath> parsed = parse_path(path);
  if (!parsed) {
    if (parsed.error().code == ErrorCode::kNoSpace) throw std::bad_alloc();
    return std::nullopt;
  }
  PathElements elements;
  elements.machine = text_of_pattern(parsed->provider).value_or("");
  if (parsed->provider_pid) {
    elements.machine.append("@").append(std::to_string(*parsed->provider_pid));
  }
  elements.object = text_of_pattern(std::string_view(parsed->set));
  elements.parent = text_of_pattern(parsed->parent);
  elements.instance = text_of_pattern(parsed->instance);
  elements.index = parsed->index;
  elements.counter = text_of_pattern(parsed->counter).value_or("");
  return elements;
}

std::optional<std::string> print_elements(const PathElements& elements) {
  if (elements.object.empty() || elements.counter.empty()) return std::nullopt;
  std::string path;
  if (!elements.machine.empty()) path.append("\\\\").append(elements.machine);
  path.append("\\").append(elements.object);
  if (elements.instance) {
    path.append("(").append(elements.whole_instance());
    append_index(elements.index, path);
    path.append(")");
  }
  path.append("\\").append(elements.counter);
  // There are no escapes, so the only proof that the text says what was meant is to read it.
  const auto read_back = parse_elements(path);
  if (!read_back || !say_the_same(*read_back, elements)) return std::nullopt;
  return path;
}

std::optional<InstanceElements> parse_instance(std::string_view text) {
  const auto path = parse_elements(std::string("\\s(").append(text).append(")\\c"));
  if (!path || path->object != "s" || path->counter != "c") return std::nullopt;
  return InstanceElements{*path->instance, path->parent, path->index};
}

std::string numbered_name(std::string_view name, std::uint32_t number) {
  std::string numbered(name);
  append_index(number, numbered);
  return numbered;
}

bool has_wildcard(std::string_view text) noexcept {
  return text.find_first_of("*?") != std::string_view::npos;
}

}  // namespace meterbank::pdh
