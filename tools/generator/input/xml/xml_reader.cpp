// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/input/elements.hpp"
#include "generator/input/xml/xml_text.hpp"

namespace meterbank::generator {
namespace {

constexpr std::uint32_t kElementsMax = 65536;
constexpr std::string_view kEventsSpace = "http://schemas.microsoft.com/win/2004/08/events";
constexpr std::string_view kCountersSpace = "http://schemas.microsoft.com/win/2005/12/counters";
constexpr std::string_view kBlank = " \t\r\n";

struct Name {
  std::string_view prefix;
  std::string_view local;
};

Name name_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {{}, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlank) == std::string_view::npos;
}

bool declares_namespace(std::string_view attribute) {
  return attribute == "xmlns" || attribute.starts_with("xmlns:");
}

// The namespace that `prefix` stands for at `node`; empty if there is none.
std::string_view space_of(pugi::xml_node node, std::string_view prefix) {
  std::string declaration = "xmlns";
  if (!prefix.empty()) declaration.append(":").append(prefix);
  for (; node; node = node.parent()) {
    if (const auto found = node.attribute(declaration.c_str())) return found.value();
  }
  return {};
}

class XmlReader {
 public:
  // `buffer` is the copy of the source that pugixml parsed in place: names and values begin in it
  // where they begin in the source, which tells their places.
  XmlReader(const SourceText& source, const char* buffer, Problems& problems)
      : source_(source), buffer_(buffer), problems_(problems) {}

  std::optional<Element> document(const pugi::xml_document& document) {
    check_encoding(document);
    const pugi::xml_node root = only(document, "instrumentationManifest", kEventsSpace);
    if (!root) return std::nullopt;
    check_root(root);
    const pugi::xml_node instrumentation = only(root, "instrumentation", kEventsSpace);
    if (!instrumentation) return std::nullopt;
    const pugi::xml_node counters = only(instrumentation, "counters", kCountersSpace);
    if (!counters) return std::nullopt;
    return element(counters, 1);
  }

  [[nodiscard]] Place place_of(std::size_t offset) const { return source_.place_of(offset); }

 private:
  [[nodiscard]] Place place_of(const char* in_buffer) const {
    return source_.place_of(static_cast<std::size_t>(in_buffer - buffer_));
  }
  // Of its `<`.
  [[nodiscard]] Place place_of(pugi::xml_node node) const { return place_of(node.name() - 1); }

  void check_encoding(const pugi::xml_document& document) {
    const pugi::xml_node first = document.first_child();
    if (first.type() != pugi::node_declaration) return;
    const pugi::xml_attribute encoding = first.attribute("encoding");
    if (!encoding) return;
    std::string name = encoding.value();
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (name == "utf-8" || name == "utf-16" || name == "us-ascii" || name == "ascii") return;
    problems_.add(place_of(encoding.name()),
                  fmt::format("encoding '{}' is not read", encoding.value()),
                  R"(save the file as UTF-8 and write encoding="UTF-8")");
  }

  // The child of this name. Other children of the frame around <counters> are other
  // instrumentation, and none of ours.
  pugi::xml_node only(pugi::xml_node parent, std::string_view name, std::string_view space) {
    pugi::xml_node found;
    for (const pugi::xml_node child : parent.children()) {
      if (child.type() != pugi::node_element || name_of(child.name()).local != name) continue;
      if (found) {
        refuse_second(child, found);
        return {};
      }
      found = child;
    }
    if (found) return is_in(found, space) ? found : pugi::xml_node();
    problems_.add(
        parent.type() == pugi::node_document ? place_of_root(parent) : place_of(parent),
        fmt::format("there is no <{}> here", name),
        "a manifest is <instrumentationManifest> <instrumentation> <counters> <provider>");
    return {};
  }

  [[nodiscard]] Place place_of_root(pugi::xml_node document) const {
    for (const pugi::xml_node child : document.children()) {
      if (child.type() == pugi::node_element) return place_of(child);
    }
    return {1, 1};
  }

  // XML has one document element; pugixml takes any number.
  void check_root(pugi::xml_node root) {
    for (auto next = root.next_sibling(); next; next = next.next_sibling()) {
      if (next.type() == pugi::node_element) refuse_second(next, root);
    }
  }

  void refuse_second(pugi::xml_node second, pugi::xml_node first) {
    problems_.add(place_of(second), fmt::format("a second element <{}>", second.name()),
                  fmt::format("the first is in line {}; a manifest has one", place_of(first).line));
  }

  bool is_in(pugi::xml_node node, std::string_view space) {
    if (!has_few_attributes(node)) return false;
    const Name name = name_of(node.name());
    if (space_of(node, name.prefix) == space) return true;
    const std::string declaration =
        name.prefix.empty() ? "xmlns" : fmt::format("xmlns:{}", name.prefix);
    problems_.add(place_of(node), fmt::format("<{}> is in another namespace", node.name()),
                  fmt::format(R"(it belongs to {}="{}")", declaration, space));
    return false;
  }

  // Namespaces are looked up in the attributes of all elements around one.
  bool has_few_attributes(pugi::xml_node node) {
    std::size_t count = 0;
    for (const pugi::xml_attribute attribute : node.attributes()) {
      if (++count <= kAttributesMax) continue;
      problems_.add(place_of(attribute.name()),
                    fmt::format("<{}> has more than {} attributes", node.name(), kAttributesMax));
      return false;
    }
    return true;
  }

  Element element(pugi::xml_node node, std::uint32_t depth) {
    Element to{std::string(name_of(node.name()).local), place_of(node), false, {}, {}};
    attributes(node, to);
    for (const pugi::xml_node child : node.children()) {
      if (child.type() == pugi::node_element) {
        if (!has_room(child, depth)) return to;
        if (is_in(child, kCountersSpace)) to.children.push_back(element(child, depth + 1));
      } else if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
        if (is_blank(child.value())) continue;
        const auto begin = static_cast<std::size_t>(child.value() - buffer_);
        const std::size_t text = source_.text().find_first_not_of(kBlank, begin);
        problems_.add(source_.place_of(text), fmt::format("text in <{}>", node.name()),
                      "a manifest says everything in attributes");
      }
    }
    return to;
  }

  bool has_room(pugi::xml_node node, std::uint32_t depth) {
    if (depth >= kDepthMax) {
      problems_.add(place_of(node), fmt::format("more than {} elements in each other", kDepthMax));
      return false;
    }
    if (++elements_ > kElementsMax) {
      if (elements_ == kElementsMax + 1) {
        problems_.add(place_of(node), fmt::format("more than {} elements", kElementsMax));
      }
      return false;
    }
    return true;
  }

  void attributes(pugi::xml_node node, Element& to) {
    for (const pugi::xml_attribute attribute : node.attributes()) {
      const std::string_view name = attribute.name();
      if (declares_namespace(name) || name.find(':') != std::string_view::npos) continue;
      Entry entry;
      entry.name = name;
      entry.place = place_of(attribute.name());
      entry.text = attribute.value();
      if (const Entry* const before = find(to.entries, name)) {
        problems_.add(entry.place, fmt::format("attribute {} is given twice", name),
                      fmt::format("the first is in line {}", before->place.line));
        continue;
      }
      check_value(attribute, entry);
      to.entries.push_back(std::move(entry));
    }
  }

  // pugixml takes a `<` in a value, which other XML parsers would not.
  void check_value(pugi::xml_attribute attribute, const Entry& entry) {
    if (entry.text.find('<') == std::string::npos) return;
    const std::string_view text = source_.text();
    const auto begin = static_cast<std::size_t>(attribute.value() - buffer_);
    const auto raw = text.substr(begin, text.find(text[begin - 1], begin) - begin);
    const std::size_t at = raw.find('<');
    if (at == std::string_view::npos) return;
    problems_.add(source_.place_of(begin + at), fmt::format("a < in the value of {}", entry.name),
                  "write &lt;");
  }

  static const Entry* find(const std::vector<Entry>& entries, std::string_view name) {
    for (const Entry& entry : entries) {
      if (entry.name == name) return &entry;
    }
    return nullptr;
  }

  static constexpr std::size_t kAttributesMax = 64;  // of one element

  const SourceText& source_;
  const char* buffer_;
  Problems& problems_;
  std::uint32_t elements_ = 0;
};

struct Fault {
  std::string_view what, hint;
};

// pugixml stops at the first fault of the text itself, and says of which kind it is.
Fault fault_of(pugi::xml_parse_status status) {
  switch (status) {
    case pugi::status_bad_attribute:
      return {"an attribute ends too early", R"(attributes are name="value", with both marks)"};
    case pugi::status_bad_start_element:
      return {"a tag does not end", "tags are <name ...>, </name> or <name ... />"};
    case pugi::status_bad_end_element:
      return {"an end tag does not end", "end tags are </name>"};
    case pugi::status_end_element_mismatch:
      return {"this tag does not end the element that is open",
              "each <name> has its </name>, the last one that began first"};
    case pugi::status_bad_comment:
      return {"a comment does not end", "comments are <!-- ... -->"};
    case pugi::status_bad_pi:
      return {"an instruction does not end", "instructions are <? ... ?>"};
    case pugi::status_bad_cdata:
      return {"character data does not end", "it is <![CDATA[ ... ]]>"};
    case pugi::status_unrecognized_tag:
      return {"a < that begins no tag", "write &lt; where it is meant as text"};
    case pugi::status_no_document_element:
      return {"there is no element", "a manifest is <instrumentationManifest> ..."};
    default:
      return {"this is not XML", "xmllint --noout says more about it"};
  }
}

}  // namespace

std::optional<Element> read_xml(const SourceText& source, Problems& problems) {
  if (!check_xml_text(source, problems)) return std::nullopt;
  std::string buffer(source.text());
  XmlReader reader(source, buffer.data(), problems);
  pugi::xml_document document;
  constexpr unsigned kOptions = pugi::parse_default | pugi::parse_declaration;
  const pugi::xml_parse_result result =
      document.load_buffer_inplace(buffer.data(), buffer.size(), kOptions, pugi::encoding_utf8);
  if (!result) {
    const auto [what, hint] = fault_of(result.status);
    problems.add(reader.place_of(static_cast<std::size_t>(result.offset)), std::string(what),
                 std::string(hint));
    return std::nullopt;
  }
  return reader.document(document);
}

}  // namespace meterbank::generator
