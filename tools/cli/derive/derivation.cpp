// SPDX-License-Identifier: Apache-2.0
#include "cli/derive/derivation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "exposition/page/page_layout.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::cli {
namespace {

constexpr const char* kSetName = "expr";

std::shared_ptr<const Counterset> derived_set(const std::string& name, InstanceKind kind) {
  auto set = std::make_shared<Counterset>();
  set->name = kSetName;
  set->symbol = kSetName;
  set->instances = kind;
  CounterView counter;
  counter.name = name;
  counter.symbol = name;
  counter.type = CounterType::kLargeRawCount;
  counter.word = kNoCounter;
  set->counters.push_back(std::move(counter));
  return set;
}

// The path that a bare word stands for: the counter of this name in the set of all `selected`.
Result<std::string> path_of_word(const std::string& word,
                                 const std::vector<std::string>& selected) {
  std::optional<CounterPath> found;
  for (const auto& text : selected) {
    const auto path = parse_path(text);
    if (!path) return tl::make_unexpected(path.error());
    if (!found) {
      found = *path;
    } else if (!equal_folded(found->set, path->set)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("-e: '{}' may be of {} or of {}", word, found->set, path->set),
                  fmt::format("{{{}/{}}}", found->set, word));
    }
  }
  if (!found) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("-e: '{}' is a counter of the selected set, and none is selected", word),
        fmt::format("{{set/{}}}, or the set as PATH", word));
  }
  CounterPath path;
  path.provider = found->provider;
  path.provider_pid = found->provider_pid;
  path.set = found->set;
  path.counter = word;
  path.spelling = PathSpelling::kShort;
  if (selected.size() == 1 && found->instance) {
    path.instance = found->whole_instance();
    path.index = found->index;
  }
  return print_short(path);
}

bool names_one_instance(const std::string& pattern) {
  const auto path = parse_path(pattern);
  if (!path || !path->instance) return false;
  return path->index != kAnyInstanceIndex && !has_wildcard(*path->whole_instance());
}

Term term_of(const Value& row) {
  const ProviderView& provider = row.provider();
  Term term;
  term.provider = &provider;
  term.instance = row.instance().name;
  term.id = row.instance().id;
  term.shares_name = row.row->shares_name;
  term.is_total = row.row->is_total || exposition::is_published_total(row.instance().name);
  term.key = fmt::format("{}\n{}\n{}\n{}", provider.outside.host, provider.label(),
                         row.instance().name, row.instance().id);
  if (row.text.has_value()) {
    term.status = CookStatus::kNotCookable;
    return term;
  }
  if (row_has_value(row, false)) {
    term.value = in_base_unit(row.cooked.value, cooked_unit(*row.counter)).value;
    return term;
  }
  term.status = has_value(row.cooked.status) ? CookStatus::kNoValue : row.cooked.status;
  return term;
}

}  // namespace

Result<Derivation> Derivation::prepare(const std::vector<Expression>& expressions,
                                       SelectionOptions& options) {
  Derivation derivation;
  derivation.selected_ = options.paths;
  derivation.excluded_ = options.excluded;
  for (const auto& expression : expressions) {
    if (auto added = derivation.add(expression, options, derivation.selected_); !added) {
      return tl::make_unexpected(added.error());
    }
  }
  return derivation;
}

Derivation Derivation::of_paths(std::vector<std::string> paths, std::vector<std::string> excluded) {
  Derivation derivation;
  derivation.selected_ = std::move(paths);
  derivation.excluded_ = std::move(excluded);
  return derivation;
}

Result<void> Derivation::add(const Expression& expression, SelectionOptions& options,
                             const std::vector<std::string>& selected) {
  Formula formula{expression, {}, {}, {}};
  formula.plain.set = derived_set(expression.name(), InstanceKind::kSingle);
  formula.by_instance.set = derived_set(expression.name(), InstanceKind::kMultiple);
  for (const auto& input : expression.inputs()) {
    Result<std::string> path = input.text;
    if (input.bare) path = path_of_word(input.text, selected);
    if (!path) return tl::make_unexpected(path.error());
    SelectionOptions scoped;
    scoped.provider = options.provider;
    scoped.paths = {*path};
    const auto scoped_paths = gather_paths(scoped);
    if (!scoped_paths) return tl::make_unexpected(scoped_paths.error());
    const auto& pattern = scoped_paths->front();
    formula.sources.push_back({pattern, names_one_instance(pattern), std::nullopt});
    options.paths.push_back(pattern);
  }
  formulas_.push_back(std::move(formula));
  return {};
}

std::vector<const Value*> Derivation::find_rows(const Query& query) const {
  std::vector<const Value*> found;
  std::unordered_set<const Value*> seen;
  for (const SelectedSet& selected : query.selected()) {
    // Rows that are added up are one row, which belongs to no instance.
    const std::size_t rows = selected.is_total() ? 1 : selected.instances();
    for (std::size_t row = 0; row < rows; ++row) {
      const auto* instance = selected.is_total() ? nullptr : &selected.instance(row);
      for (const auto index : selected.counters()) {
        const auto known = index_.find({instance, &selected.set().counters[index]});
        if (known == index_.end() || !seen.insert(known->second).second) continue;
        found.push_back(known->second);
      }
    }
  }
  return found;
}

// Rows that are computed on demand are those of the main query, and may be others by now.
void Derivation::keep_part(const Selection& selection, const std::vector<std::string>& patterns,
                           std::optional<Query>& part) const {
  if (part && !selection.query.asks()) {
    part->update(selection.catalog());
    return;
  }
  auto query = Query::compile_part(selection.query, selection.catalog(), patterns, excluded_);
  if (query) part = std::move(*query);
}

Terms Derivation::terms_of(Source& source, const Selection& selection) {
  // The main query holds the same pattern, so it is known to compile.
  keep_part(selection, {source.pattern}, source.query);
  Terms terms;
  if (!source.query) return terms;
  auto rows = find_rows(*source.query);
  std::erase_if(rows, [this](const Value* row) {
    const ProviderView& provider = row->provider();
    if (!provider.trusted) not_in_totals_.insert(provider.record);
    return !provider.trusted;
  });
  for (const auto* row : rows) terms.terms.push_back(term_of(*row));
  const bool one = rows.size() == 1;
  const bool single = one && !has_instance_names(rows.front()->set().instances);
  terms.plain = rows.empty() || single || (one && source.literal_instance);
  if (rows.empty()) terms.terms.push_back(Term{{}, {}, {}, 0, CookStatus::kNoValue});
  // What goes with everything belongs to no instance.
  if (terms.plain) terms.terms.front().key.clear();
  return terms;
}

void Derivation::keep_rows(const Sampler& sampler) {
  inputs_.clear();
  sampler.each_row([this](const Value& value) {
    inputs_.emplace_back(value);
    return true;
  });
}

void Derivation::index_rows() {
  index_.clear();
  for (const KeptValue& kept : inputs_) {
    const Value& value = kept.value();
    index_.emplace(RowKey{value.row->is_total ? nullptr : &value.instance(), value.counter},
                   &value);
  }
}

void Derivation::show_selected(const Selection& selection) {
  if (selected_.empty()) return;
  keep_part(selection, selected_, shown_);
  if (!shown_) return;
  std::unordered_set<const Value*> wanted;
  for (const auto* row : find_rows(*shown_)) wanted.insert(row);
  for (const KeptValue& kept : inputs_) {
    if (wanted.contains(&kept.value())) rows_.push_back(&kept.value());
  }
}

void Derivation::show(const Formula& formula, const Term& term, bool plain,
                      const Sampler& sampler) {
  const auto selected = sampler.newer().selected();
  const auto trusted = std::find_if(selected.begin(), selected.end(),
                                    [](const SelectedSet& one) { return one.provider().trusted; });
  no_provider_.trusted = true;
  InstanceView instance;
  if (!plain) instance = {.name = names_.emplace_back(term.instance), .id = term.id};
  Row row;
  row.provider = term.provider;
  row.is_total = term.provider == nullptr;
  if (row.is_total) row.provider = trusted == selected.end() ? &no_provider_ : &trusted->provider();
  row.registered = plain ? &formula.plain : &formula.by_instance;
  row.instance = &instances_.emplace_back(instance);
  row.shares_name = !plain && term.shares_name;
  row.status = RowStatus::kFresh;
  Value value;
  value.counter = &row.set().counters.front();
  value.cooked = {term.value, term.status};
  rows_.push_back(&derived_.emplace_back(row, value).value());
}

const std::vector<const Value*>& Derivation::rows(const Sampler& sampler,
                                                  const Selection& selection) {
  rows_.clear();
  derived_.clear();
  instances_.clear();
  names_.clear();
  not_in_totals_.clear();
  keep_rows(sampler);
  index_rows();
  show_selected(selection);
  for (auto& formula : formulas_) {
    const auto result = formula.expression.evaluate(
        [&](std::size_t input) { return terms_of(formula.sources[input], selection); });
    for (const auto& term : result.terms) show(formula, term, result.plain, sampler);
  }
  return rows_;
}

}  // namespace meterbank::cli
