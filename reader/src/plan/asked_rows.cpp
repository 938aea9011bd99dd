// SPDX-License-Identifier: Apache-2.0
#include "asked_rows.hpp"

#include <algorithm>
#include <utility>

#include "match/counter_mask.hpp"
#include "match/pattern_match.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

// From a pattern with escapes to one without: an ordinary `*` becomes `?`, which matches it too.
std::string without_escapes(std::string_view pattern) {
  std::string plain;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const bool is_escape = pattern[at] == '\\' && at + 1 < pattern.size();
    if (is_escape) ++at;
    const bool is_ordinary_star = is_escape && pattern[at] == '*';
    plain += is_ordinary_star ? '?' : pattern[at];
  }
  return plain;
}

// The union of what is asked, in the form that a request has.
class Asked {
 public:
  explicit Asked(const RegisteredSet& set) : set_(set), is_wanted_(set.set->counters.size()) {}

  void add(const std::vector<std::uint32_t>& counters, std::string_view pattern, std::uint32_t id) {
    for (const std::uint32_t counter : counters) is_wanted_[counter] = true;
    if (!any_) {
      pattern_ = pattern;
      id_ = id;
    }
    if (!equal_folded(pattern_, pattern)) pattern_ = "*";
    if (id_ != id) id_ = kAnyInstanceId;
    any_ = true;
  }
  // Counters are wanted as what the set has, not by their ids.
  void may_mean_every_counter() noexcept { names_each_ = false; }

  [[nodiscard]] std::optional<AskedRows> rows() && {
    if (!any_) return std::nullopt;
    std::vector<std::uint32_t> counters;
    for (std::uint32_t index = 0; index < is_wanted_.size(); ++index) {
      if (is_wanted_[index]) counters.push_back(index);
    }
    const bool is_usable = has_instance_names(set_.set->instances) && !pattern_.empty() &&
                           pattern_.size() <= kNameBytesMax && is_valid_utf8(pattern_);
    return AskedRows{
        names_each_ ? mask_of_each(*set_.set, counters) : counter_mask_of(*set_.set, counters), id_,
        is_usable ? std::move(pattern_) : std::string("*"),
        has_instance_names(set_.set->instances)};
  }

 private:
  const RegisteredSet& set_;
  std::vector<bool> is_wanted_;
  std::string pattern_;
  std::uint32_t id_ = kAnyInstanceId;
  bool any_ = false;
  bool names_each_ = true;
};

void add_pattern(const PatternMatch& match, const std::vector<std::uint32_t>& counters,
                 const RegisteredSet& set, Asked& asked) {
  const auto instance = match.path().whole_instance();
  asked.may_mean_every_counter();
  // What `name#7` means is a matter of all instances, and so is a total.
  const bool needs_all = !instance || match.has_number() || match.wants_total(set);
  asked.add(counters, needs_all ? "*" : without_escapes(*instance), kAnyInstanceId);
}

void add_pattern(const QueryRequest::Pattern& pattern, const ProviderView& provider,
                 const RegisteredSet& set, Asked& asked) {
  const PatternMatch& match = pattern.reading_in(*set.set);
  if (!match.matches(provider) || !match.matches(*set.set)) return;
  const auto counters = match.counters_of(*set.set);
  if (!counters.empty()) add_pattern(match, counters, set, asked);
}

void add_item(const QueryRequest::Item& asked_item, const RegisteredSet& set, Asked& asked) {
  const QueryItem& item = asked_item.item;
  if (item.set != set.set->guid || !fits(item, set.set->instances)) return;
  std::vector<std::uint32_t> counters;
  for (std::uint32_t index = 0; index < set.set->counters.size(); ++index) {
    const CounterView& counter = set.set->counters[index];
    const bool is_asked =
        item.counter_id == kAnyCounterId ? !is_hidden(counter) : item.counter_id == counter.id;
    if (is_asked) counters.push_back(index);
  }
  if (counters.empty()) return;
  if (item.counter_id == kAnyCounterId) asked.may_mean_every_counter();
  const bool needs_all = wants_total(asked_item, set.set->instances);
  asked.add(counters, needs_all ? "*" : item.instances,
            needs_all ? kAnyInstanceId : item.instance_id);
}

}  // namespace

std::optional<AskedRows> asked_of(const QueryRequest& request, const ProviderView& provider,
                                  const RegisteredSet& set) {
  Asked asked(set);
  for (const auto& pattern : request.patterns) add_pattern(pattern, provider, set, asked);
  for (const QueryRequest::Item& item : request.items) add_item(item, set, asked);
  return std::move(asked).rows();
}

}  // namespace meterbank
