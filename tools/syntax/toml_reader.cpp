// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "syntax/tomlplusplus.hpp"
#include "syntax/tree.hpp"

namespace meterbank::syntax {
namespace {

// Where a dotted key is too long, npos if none is. toml++ nests a table for each dot and takes them
// down recursively, so a long one must not reach it. Up to the first error of the text this reads
// it as toml++ does; what comes behind that, toml++ never reads.
std::size_t find_long_key(std::string_view text) {
  std::uint32_t dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::string_view triple = text.substr(i, 3);
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (triple == R"(""")" || triple == "'''") {
      i += 3;
      while (i < text.size() && text.substr(i, 3) != triple) {
        i += c == '"' && text[i] == '\\' ? 2U : 1U;
      }
      i += 3;
      for (int more = 0; more < 2 && i < text.size() && text[i] == c; ++more) ++i;
    } else if (c == '"' || c == '\'') {
      for (++i; i < text.size() && text[i] != c && text[i] != '\n';) {
        i += c == '"' && text[i] == '\\' ? 2U : 1U;
      }
      ++i;
    } else {
      const bool between = c == '=' || c == ',' || c == '\n' || c == '[' || c == '{';
      dots = between ? 0 : dots + (c == '.' ? 1 : 0);
      if (dots > kDepthMax) return i;
      ++i;
    }
  }
  return std::string_view::npos;
}

class TomlReader {
 public:
  explicit TomlReader(const SourceText& source) : source_(source) {}

  // As deep as the parser and find_long_key() let a document be.
  [[nodiscard]] Element table(const toml::table& from, std::string name) const {
    Element to{std::move(name), place(from.source().begin), false, {}, {}};
    for (const auto& [key, node] : from) {
      const std::string text(key.str());
      const Place at = place(key.source().begin);
      if (const toml::table* const below = node.as_table()) {
        to.children.push_back(table(*below, text));
        if (below->is_inline()) to.children.back().place = at;
      } else if (const toml::array* const list = node.as_array(); list && holds_tables(*list)) {
        for (const auto& each : *list) {
          to.children.push_back(table(*each.as_table(), text));
          to.children.back().listed = true;
        }
      } else {
        to.entries.push_back(entry(text, at, node));
      }
    }
    return to;
  }

  [[nodiscard]] Place place(const toml::source_position& at) const {
    return source_.place_of_character(at.line, at.column);
  }

 private:
  static bool holds_tables(const toml::array& list) {
    return !list.empty() && list.is_homogeneous(toml::node_type::table);
  }

  [[nodiscard]] Entry entry(const std::string& name, Place at, const toml::node& node) const {
    Entry entry;
    entry.name = name;
    entry.place = at;
    if (const auto* const text = node.as_string()) {
      entry.kind = Entry::Kind::kText;
      entry.text = text->get();
    } else if (const auto* const integer = node.as_integer()) {
      entry.kind = Entry::Kind::kInteger;
      entry.integer = integer->get();
    } else if (const auto* const real = node.as_floating_point()) {
      entry.kind = Entry::Kind::kReal;
      entry.real = real->get();
    } else if (const auto* const boolean = node.as_boolean()) {
      entry.kind = Entry::Kind::kBoolean;
      entry.boolean = boolean->get();
    } else if (const auto* const list = node.as_array()) {
      entry.kind = Entry::Kind::kList;
      for (const auto& each : *list) {
        entry.items.push_back(this->entry(name, place(each.source().begin), each));
      }
    } else {
      entry.kind = Entry::Kind::kOther;
    }
    return entry;
  }

  const SourceText& source_;
};

void refuse(const toml::parse_error& error, Place place, Problems& problems) {
  // "Error while parsing key-value pair: expected value, saw ..."
  std::string_view what = error.description();
  if (const std::size_t colon = what.find(": "); colon != std::string_view::npos) {
    what.remove_prefix(colon + 2);
  }
  if (what.find("TOML_MAX_NESTED_VALUES") != std::string_view::npos) {
    problems.add(place, fmt::format("more than {} values in each other", kDepthMax));
  } else if (what.starts_with("cannot redefine")) {
    problems.add(place, std::string(what),
                 "a key and a table stand once; tables that repeat have double brackets");
  } else if (what.starts_with("unescaped control characters")) {
    problems.add(place, "a text does not end in its line",
                 R"(it ends with the mark it begins with; one of several lines has three: """)");
  } else {
    problems.add(place, std::string(what),
                 "this is not TOML: texts stand in quotation marks, names of tables in brackets");
  }
}

}  // namespace

std::optional<Element> read_toml(const SourceText& source, Problems& problems) {
  if (const std::size_t at = find_long_key(source.text()); at != std::string_view::npos) {
    problems.add(source.place_of(at), fmt::format("a key of more than {} parts", kDepthMax),
                 "write fewer dots: no table lies that deep");
    return std::nullopt;
  }
  const TomlReader reader(source);
  const toml::parse_result result = toml::parse(source.text());
  if (!result) {
    refuse(result.error(), reader.place(result.error().source().begin), problems);
    return std::nullopt;
  }
  return reader.table(result.table(), {});
}

}  // namespace meterbank::syntax
