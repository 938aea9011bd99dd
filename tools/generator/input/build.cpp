// SPDX-License-Identifier: Apache-2.0
#include "generator/input/build.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "generator/input/keys.hpp"
#include "generator/manifest/vocabulary.hpp"
#include "generator/manifest/words.hpp"

namespace meterbank::generator {
namespace {

constexpr std::size_t kCountersMax = 4096;  // of a document

using Names = std::initializer_list<std::string_view>;

class Builder {
 public:
  Builder(Manifest& manifest, Problems& problems)
      : reading_{manifest.language, problems}, manifest_(manifest), problems_(problems) {}

  void document(const Element& root) {
    if (!is_xml()) {
      entries(root, "a manifest", kDocumentKeys, manifest_, {"provider", "counterset"});
      children(root, "a manifest", {"provider", "counterset"});
    } else {
      entries(root, "<counters>", kCountersKeys, manifest_, {});
      children(root, "<counters>", {"provider"});
    }
    const Element* const provider = only(root, "provider");
    if (provider == nullptr) {
      problems_.add(root.place, "there is no provider",
                    is_xml() ? "<counters> has a <provider> with the countersets in it"
                             : "a manifest begins with [provider] and its name");
    } else {
      take_provider(*provider);
    }
    const std::string_view name = is_xml() ? "counterSet" : "counterset";
    const Element* const sets = is_xml() ? provider : &root;
    if (sets == nullptr) return;
    for (const Element& child : sets->children) {
      if (child.name == name) take_counterset(child);
    }
  }

 private:
  [[nodiscard]] bool is_xml() const { return manifest_.language == Language::kXml; }

  template <typename Owner, std::size_t kSize>
  void entries(const Element& element, std::string_view of,
               const std::array<Key<Owner>, kSize>& keys, Owner& owner, Names tables) {
    for (const Entry& entry : element.entries) {
      const Key<Owner>* found = nullptr;
      for (const auto& key : keys) {
        if (!key.in(reading_.language).empty() && key.in(reading_.language) == entry.name) {
          found = &key;
        }
      }
      if (found != nullptr) {
        found->take(reading_, entry, owner);
      } else {
        refuse_entry(entry, of, keys, tables);
      }
    }
    for (const auto& key : keys) {
      const std::string_view name = key.in(reading_.language);
      if (!key.is_needed_in(reading_.language) || has(element, name)) continue;
      problems_.add(element.place, fmt::format("{} without {}", of, name),
                    fmt::format("add {}{}", name, is_xml() ? R"(="...")" : " = ..."));
    }
  }

  static bool has(const Element& element, std::string_view name) {
    for (const Entry& entry : element.entries) {
      if (entry.name == name) return true;
    }
    return false;
  }

  template <typename Owner, std::size_t kSize>
  void refuse_entry(const Entry& entry, std::string_view of,
                    const std::array<Key<Owner>, kSize>& keys, Names tables) {
    for (const std::string_view table : tables) {
      if (entry.name != table) continue;
      reading_.add(entry, fmt::format("{} is not a table", table),
                   fmt::format(R"(write {} with keys of its own)", in_brackets(table)));
      return;
    }
    const Language other = is_xml() ? Language::kToml : Language::kXml;
    NearWord near(entry.name);
    std::string known;
    for (const auto& key : keys) {
      const std::string_view name = key.in(reading_.language);
      if (name.empty()) continue;
      // What the other language calls it is sure to be meant.
      if (key.in(other) == entry.name) near = NearWord(name);
      near.consider(name);
      known.append(known.empty() ? "it can have " : ", ").append(name);
    }
    const std::string_view kind = is_xml() ? "attribute" : "key";
    reading_.add(entry, fmt::format("{} has no {} {}", of, kind, in_quotes(entry.name)),
                 near.hint(known.empty() ? "it has none at all" : known));
  }

  [[nodiscard]] std::string in_brackets(std::string_view table) const {
    if (table == "provider") return "[provider]";
    if (table == "buckets") return "buckets = {least = ..., most = ...}";
    return table == "counterset" ? "[[counterset]]" : fmt::format("[[counterset.{}]]", table);
  }

  // Refuses children of other names, and in TOML tables in the wrong sort of brackets.
  void children(const Element& element, std::string_view of, Names names) {
    for (const Element& child : element.children) {
      bool known = false;
      NearWord near(child.name);
      std::string all;
      for (const std::string_view name : names) {
        known = known || child.name == name;
        near.consider(name);
        all.append(all.empty() ? "it can have " : ", ").append(name);
      }
      const std::string shown = is_xml() ? "<" + child.name + ">" : in_quotes(child.name);
      if (!known) {
        problems_.add(child.place,
                      fmt::format("{} has no {} {}", of, is_xml() ? "element" : "table", shown),
                      near.hint(all.empty() ? "it has none at all" : all));
      } else if (!is_xml() && child.listed != is_list(child.name)) {
        problems_.add(child.place,
                      fmt::format("{} is {}", child.name,
                                  child.listed ? "a table, not a list" : "a list of tables"),
                      fmt::format("write {}", in_brackets(child.name)));
      }
    }
  }

  static bool is_list(std::string_view table) { return table != "provider" && table != "buckets"; }

  // The child of that name; nullptr if there is none. More are refused.
  const Element* only(const Element& element, std::string_view name) {
    const Element* found = nullptr;
    for (const Element& child : element.children) {
      if (child.name != name) continue;
      if (found != nullptr) {
        problems_.add(
            child.place, fmt::format("a second {}", name),
            fmt::format("the first is in line {}; there is one at most", found->place.line));
        break;
      }
      found = &child;
    }
    return found;
  }

  void take_provider(const Element& element) {
    Provider& provider = manifest_.provider;
    provider.place = element.place;
    entries(element, "a provider", kProviderKeys, provider, {});
    if (!is_xml()) {
      children(element, "a provider", {});
      return;
    }
    children(element, "a provider", {"counterSet"});
    if (!provider.name.is_said()) provider.name.value = "Counters";  // as CTRPP has it
  }

  void take_counterset(const Element& element) {
    Counterset& set = manifest_.countersets.emplace_back();
    set.place = element.place;
    entries(element, "a counterset", kCountersetKeys, set, {"struct", "counter"});
    children(element, "a counterset", {is_xml() ? "structs" : "struct", "counter"});
    set.word = snake_case(set.symbol.value.empty() ? set.name.value : set.symbol.value);
    take_structs(element, set);
    for (const Element& child : element.children) {
      if (child.name != "counter") continue;
      if (++counters_ > kCountersMax) {
        if (counters_ == kCountersMax + 1) {
          problems_.add(child.place, fmt::format("more than {} counters", kCountersMax),
                        "divide the manifest: each provider can have one of its own");
        }
        return;
      }
      take_counter(child, set.counters.emplace_back());
    }
  }

  void take_structs(const Element& element, Counterset& set) {
    const Element* holder = &element;
    if (is_xml()) {
      holder = only(element, "structs");
      if (holder == nullptr) return;
      entries(*holder, "<structs>", std::array<Key<Counterset>, 0>{}, set, {});
      children(*holder, "<structs>", {"struct"});
    }
    for (const Element& child : holder->children) {
      if (child.name != "struct") continue;
      StructSpec& spec = set.structs.emplace_back();
      spec.place = child.place;
      entries(child, "a struct", kStructKeys, spec, {});
      children(child, "a struct", {});
    }
  }

  void take_counter(const Element& element, Counter& counter) {
    counter.place = element.place;
    if (!is_xml()) counter.type.value = CounterType::kBulkCount;
    entries(element, "a counter", kCounterKeys, counter, {"buckets"});
    if (is_xml()) {
      children(element, "a counter", {"counterAttributes"});
      take_counter_attributes(element, counter);
    } else {
      children(element, "a counter", {"buckets"});
      if (const Element* const buckets = only(element, "buckets")) take_buckets(*buckets, counter);
    }
    counter.word =
        snake_case(counter.symbol.value.empty() ? counter.name.value : counter.symbol.value);
    // A hidden counter needs no name, but all counters but bases have a word.
    if (counter.word.empty() && (counter.attributes.value & kNoDisplay) != 0 &&
        !is_base(counter.type.value)) {
      counter.word = fmt::format("counter_{}", counter.id.value);
    }
  }

  void take_counter_attributes(const Element& element, Counter& counter) {
    const Element* const holder = only(element, "counterAttributes");
    if (holder == nullptr) return;
    entries(*holder, "<counterAttributes>", std::array<Key<Counter>, 0>{}, counter, {});
    children(*holder, "<counterAttributes>", {"counterAttribute"});
    for (const Element& child : holder->children) {
      if (child.name != "counterAttribute") continue;
      entries(child, "<counterAttribute>", kAttributeKeys, counter, {});
      children(child, "<counterAttribute>", {});
    }
  }

  void take_buckets(const Element& element, Counter& counter) {
    BucketKeys keys;
    entries(element, "buckets", kBucketKeys, keys, {});
    children(element, "buckets", {});
    BucketSpec& spec = counter.buckets.value;
    if (keys.scale.is_said()) spec.scale = keys.scale.value;
    spec.least = keys.least.value;
    spec.most = keys.most.value;
    counter.buckets.place = element.place;
  }

  Reading reading_;
  Manifest& manifest_;
  Problems& problems_;
  std::size_t counters_ = 0;
};

}  // namespace

void build(const Element& root, Manifest& manifest, Problems& problems) {
  Builder(manifest, problems).document(root);
}

}  // namespace meterbank::generator
