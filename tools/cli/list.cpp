// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/format/kinds.hpp"
#include "cli/format/listing.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Instances of a registration, or rows that were computed on demand: those that were selected, else
// all that are live. They live as long as the selection.
struct ListedInstances {
  const RegisteredSet* registered;
  std::optional<SelectedSet> selected;

  template <typename F>
  void each(F&& f) const {
    for (std::size_t number = 0; selected && number < selected->instances(); ++number) {
      f(selected->instance(number));
    }
    if (selected) return;
    for (const InstanceView& instance : registered->instances) {
      if (!instance.closed) f(instance);
    }
  }
};

// One registered set, with what the paths selected of it.
struct ListedSet {
  const ProviderView* provider;
  const RegisteredSet* registered;
  std::vector<std::uint32_t> counters;  // indexes in Counterset::counters
  std::vector<ListedInstances> instances;
  std::size_t instances_count = 0;

  void add(ListedInstances more) {
    more.each([this](const InstanceView&) { ++instances_count; });
    instances.push_back(more);
  }
  template <typename F>
  void each_instance(F&& f) const {
    for (const ListedInstances& some : instances) some.each(f);
  }

  [[nodiscard]] const Counterset& set() const { return *registered->set; }
  [[nodiscard]] std::string symbol() const { return word_of(set()); }
  [[nodiscard]] bool single() const { return !has_instance_names(set().instances); }
};

std::vector<ListedSet> list_everything(const Catalog& catalog) {
  std::vector<ListedSet> listed;
  for (const auto& provider : catalog.providers()) {
    for (const auto& registered : provider->sets) {
      if (registered.state != RegistrationState::kInserted) continue;
      ListedSet entry{provider.get(), &registered, {}, {}, 0};
      for (std::uint32_t i = 0; i < registered.set->counters.size(); ++i) {
        if (!is_base(registered.set->counters[i].type)) entry.counters.push_back(i);
      }
      entry.add({&registered, std::nullopt});
      listed.push_back(std::move(entry));
    }
  }
  return listed;
}

// The entry of the same set of the same provider, which has rows of its own.
ListedSet* find_listed(std::vector<ListedSet>& listed, const SelectedSet& selected) {
  const auto found = std::find_if(listed.begin(), listed.end(), [&](const ListedSet& entry) {
    return entry.provider->record == selected.provider().record &&
           entry.set().guid == selected.set().guid;
  });
  return found == listed.end() ? nullptr : &*found;
}

// Instances that are computed on demand, with the sets that have them.
void add_answered(const Query& query, std::vector<ListedSet>& listed) {
  for (const SelectedSet& selected : query.selected()) {
    if (!selected.is_on_demand() || selected.is_total()) continue;
    auto* const entry = find_listed(listed, selected);
    if (entry != nullptr) entry->add({&selected.registered(), selected});
  }
}

// The counters of a total are listed already where its rows are.
bool has_rows_of(const std::vector<ListedSet>& listed, const SelectedSet& total) {
  return std::any_of(listed.begin(), listed.end(), [&](const ListedSet& entry) {
    const auto& counters = entry.counters;
    return entry.registered == &total.registered() &&
           std::all_of(total.counters().begin(), total.counters().end(), [&](std::uint32_t index) {
             return std::find(counters.begin(), counters.end(), index) != counters.end();
           });
  });
}

std::vector<ListedSet> list_selected(const Query& query) {
  std::vector<ListedSet> listed;
  auto all = query.selected();
  std::stable_partition(all.begin(), all.end(),
                        [](const SelectedSet& selected) { return !selected.is_total(); });
  for (const SelectedSet& selected : all) {
    if (selected.is_total() && has_rows_of(listed, selected)) continue;
    auto* known = selected.is_on_demand() ? find_listed(listed, selected) : nullptr;
    if (known != nullptr && known->counters != selected.counters()) known = nullptr;
    if (known == nullptr) {
      listed.push_back({&selected.provider(), &selected.registered(), selected.counters(), {}, 0});
      known = &listed.back();
    }
    known->add({&selected.registered(), selected});
  }
  return listed;
}

// Sets without instances cannot be sampled, so a query passes them over; here they count. Returns
// the patterns that meant them.
std::vector<std::string> add_empty_sets(const Selection& selection,
                                        std::vector<ListedSet>& listed) {
  std::vector<std::string> explained;
  for (const auto& miss : selection.query.unmatched()) {
    const auto path = parse_path(miss.pattern);
    if (!path || path->instance || miss.part != "instance") continue;
    const Glob set_name(path->set, {.backslash_escapes = true});
    const auto word =
        path->second_word ? path->second_word->as_counter : path->counter.value_or("*");
    const Glob counter_name(word, {.backslash_escapes = true});
    for (auto& entry : list_everything(selection.catalog())) {
      const auto& set = entry.set();
      if (!set_name.matches(set.symbol) && !set_name.matches(set.name)) continue;
      std::erase_if(entry.counters, [&](std::uint32_t index) {
        const auto& counter = set.counters[index];
        return !counter_name.matches(counter.symbol) && !counter_name.matches(counter.name);
      });
      if (entry.instances_count != 0 || entry.counters.empty()) continue;
      listed.push_back(std::move(entry));
      explained.push_back(miss.pattern);
    }
  }
  return explained;
}

void sort_for_reading(std::vector<ListedSet>& listed) {
  std::stable_sort(listed.begin(), listed.end(), [](const ListedSet& a, const ListedSet& b) {
    return std::pair(a.symbol(), a.provider->label()) < std::pair(b.symbol(), b.provider->label());
  });
}

std::string provider_text(const ProviderView& provider) {
  if (provider.state == ProviderState::kLive) return provider.label();
  return fmt::format("{} ({})", provider.label(), name_of(provider.state));
}

Cell age_cell(const ProviderView& provider) {
  const bool is_unknown = provider.segment == nullptr && !has_ended(provider.state);
  if (is_unknown) return Cell::absent();
  const double seconds = static_cast<double>(provider.heartbeat_age_ns()) / 1e9;
  return Cell::number(seconds, fmt::format("{}", print_duration(seconds)));
}

std::string_view instance_kind_text(InstanceKind kind) {
  switch (kind) {
    case InstanceKind::kSingle:
      return "single";
    case InstanceKind::kMultiple:
      return "multi";
    case InstanceKind::kGlobalAggregate:
      return "aggregate";
    case InstanceKind::kMultipleAggregate:
      return "multi-aggregate";
    case InstanceKind::kGlobalAggregateHistory:
      return "aggregate-history";
  }
  return "unknown";
}

std::string_view identity_text(InstanceIdentity identity) {
  return identity == InstanceIdentity::kNameAndId ? "name-and-id" : "unique";
}

void list_sets(const std::vector<ListedSet>& listed, const RowStyle& style, const TextSink& out) {
  std::vector<Property> properties{{"SET", "set"},
                                   {"", "name"},
                                   {"", "guid"},
                                   {"KIND", "kind"},
                                   {"INSTANCES", "instances", Align::kRight},
                                   {"COUNTERS", "counters", Align::kRight},
                                   {"PROVIDER", "provider"},
                                   {"", "provider_state"},
                                   {"AGE", "age_s", Align::kRight},
                                   {"", "identity"}};
  ListingPrinter listing(std::move(properties), style, out);
  for (const auto& entry : listed) {
    auto instances = Cell::number(std::uint64_t{entry.instances_count});
    if (entry.single()) instances.human = "-";
    listing.add({Cell::text(entry.symbol()), Cell::text(entry.set().name),
                 Cell::text(entry.set().guid.text()),
                 Cell::text(std::string(instance_kind_text(entry.set().instances))),
                 std::move(instances), Cell::number(std::uint64_t{entry.counters.size()}),
                 Cell::text(provider_text(*entry.provider), entry.provider->label()),
                 Cell::text(std::string(name_of(entry.provider->state))), age_cell(*entry.provider),
                 Cell::text(std::string(identity_text(entry.set().identity)))});
  }
  listing.finish();
}

std::string path_text(const ListedSet& entry, const CounterView& counter) {
  return print_short(
      path_of({.provider = {}, .set = entry.symbol(), .instance = {}, .counter = word_of(counter)},
              PathSpelling::kShort));
}

std::string windows_text(const ListedSet& entry, const CounterView& counter) {
  return fmt::format("\\{}{}\\{}", entry.set().name, entry.single() ? "" : "(*)", counter.name);
}

// Of the values that people read: those in a distribution, not their number a second.
std::string value_unit(const CounterView& counter) {
  const bool is_distribution = counter.form == ValueForm::kDistribution;
  return in_base_unit(0, is_distribution ? counter.unit : cooked_unit(counter)).unit;
}

// "955 ns to 10.2 s in 377 buckets, each value to within 2.2 %"
std::string buckets_text(const CounterView& counter) {
  if (counter.form != ValueForm::kDistribution) return {};
  const auto& shape = counter.shape;
  const auto end = shape.first + static_cast<std::int32_t>(shape.buckets);
  Distribution nothing;
  nothing.shape = shape;
  return fmt::format("{} to {} in {} buckets, each value to within {} %",
                     print_quantity(bucket_bound(shape.first, shape.scale), counter.unit),
                     print_quantity(bucket_bound(end, shape.scale), counter.unit), shape.buckets,
                     print_digits(100 * nothing.error_bound()));
}

bool has_several_providers(const std::vector<ListedSet>& listed) {
  return std::any_of(listed.begin(), listed.end(), [&](const ListedSet& entry) {
    return provider_text(*entry.provider) != provider_text(*listed.front().provider);
  });
}

// Only there in a recording of several machines.
Property host_property(const std::vector<ListedSet>& listed) {
  const bool any = std::any_of(listed.begin(), listed.end(), [](const ListedSet& entry) {
    return !entry.provider->outside.host.empty();
  });
  return any ? Property{"HOST", "host"} : Property{};
}

void list_counters(const std::vector<ListedSet>& listed, const RowStyle& style,
                   const TextSink& out) {
  std::vector<Property> properties{{"COUNTER", "path"},
                                   {"", "name"},
                                   {"", "id"},
                                   {"KIND", "kind"},
                                   {"", "type"},
                                   {"UNIT", "unit"},
                                   {has_several_providers(listed) ? "PROVIDER" : "", "provider"},
                                   host_property(listed),
                                   {"HELP", "help"},
                                   {"", "windows_path"},
                                   {"", "guid"},
                                   {"", "instances"}};
  ListingPrinter listing(std::move(properties), style, out);
  for (const auto& entry : listed) {
    for (const auto index : entry.counters) {
      const auto& counter = entry.set().counters[index];
      const auto unit = value_unit(counter);
      listing.add({Cell::text(path_text(entry, counter)), Cell::text(counter.name),
                   Cell::number(std::uint64_t{counter.id}),
                   Cell::text(std::string(kind_of(counter).kind)),
                   Cell::text(type_text(counter.type)), Cell::text(unit.empty() ? "-" : unit, unit),
                   Cell::text(provider_text(*entry.provider), entry.provider->label()),
                   Cell::text(entry.provider->outside.host), Cell::text(counter.help),
                   Cell::text(windows_text(entry, counter)), Cell::text(entry.set().guid.text()),
                   Cell::number(std::uint64_t{entry.instances_count})});
    }
  }
  listing.finish();
}

void list_instances(const std::vector<ListedSet>& listed, const RowStyle& style,
                    const TextSink& out) {
  std::vector<Property> properties{{"SET", "set"},
                                   {"INSTANCE", "instance"},
                                   {"ID", "id", Align::kRight},
                                   {"PROVIDER", "provider"},
                                   host_property(listed)};
  ListingPrinter listing(std::move(properties), style, out);
  for (const auto& entry : listed) {
    const auto provider = Cell::text(provider_text(*entry.provider), entry.provider->label());
    entry.each_instance([&](const InstanceView& instance) {
      const std::string name(instance.name);
      listing.add({Cell::text(entry.symbol()), Cell::text(name.empty() ? "-" : name, name),
                   Cell::number(std::uint64_t{instance.id}), provider,
                   Cell::text(entry.provider->outside.host)});
    });
  }
  listing.finish();
}

Cell label_cell(const std::string& label, std::size_t shown = std::string::npos) {
  return label.empty() ? Cell::text("-", label) : Cell::text(label.substr(0, shown), label);
}

void list_providers(const Catalog& catalog, bool details, const RowStyle& style,
                    const TextSink& out) {
  // What the outside says is a column where it says something.
  const auto heading = [&catalog](const char* text, auto says) {
    const auto& providers = catalog.providers();
    return std::any_of(providers.begin(), providers.end(),
                       [says](const auto& provider) { return says(*provider); })
               ? text
               : "";
  };
  const auto has_other_pid = [](const ProviderView& provider) {
    return provider.pid_here != 0 && provider.pid_here != provider.pid;
  };
  const auto has_container = [](const ProviderView& provider) {
    return !provider.outside.container.empty();
  };
  const auto has_host = [](const ProviderView& provider) { return !provider.outside.host.empty(); };
  const auto has_pod = [](const ProviderView& provider) { return !provider.outside.pod.empty(); };
  // As many digits as the programs that run containers print.
  constexpr std::size_t kContainerShown = 12;
  std::vector<Property> properties{{"PROVIDER", "provider"},
                                   {"", "name"},
                                   {heading("OWN PID", has_other_pid), "pid", Align::kRight},
                                   {"UID", "uid", Align::kRight},
                                   {"STATE", "state"},
                                   {"SETS", "sets", Align::kRight},
                                   {"INSTANCES", "instances", Align::kRight},
                                   {"MEMORY", "bytes", Align::kRight},
                                   {"AGE", "age_s", Align::kRight},
                                   {"", "pid_here"},
                                   {heading("CONTAINER", has_container), "container"},
                                   {heading("POD", has_pod), "pod"},
                                   {heading("HOST", has_host), "host"},
                                   {details ? "UNIT" : "", "unit"},
                                   {details ? "CGROUP" : "", "cgroup"}};
  ListingPrinter listing(std::move(properties), style, out);
  for (const auto& provider : catalog.providers()) {
    std::uint64_t instances = 0;
    for (const auto& set : provider->sets) instances += set.instances.live();
    listing.add(
        {Cell::text(provider->label()), Cell::text(provider->name),
         Cell::number(std::uint64_t{provider->pid}), Cell::number(std::uint64_t{provider->uid}),
         Cell::text(std::string(name_of(provider->state))),
         Cell::number(std::uint64_t{provider->sets.size()}), Cell::number(instances),
         Cell::number(static_cast<double>(provider->bytes),
                      print_quantity(static_cast<double>(provider->bytes), "By")),
         age_cell(*provider),
         provider->pid_here == 0 ? Cell::absent() : Cell::number(std::uint64_t{provider->pid_here}),
         label_cell(provider->outside.container, kContainerShown),
         label_cell(provider->outside.pod), label_cell(provider->outside.host),
         label_cell(provider->outside.unit), label_cell(provider->outside.cgroup)});
  }
  listing.finish();
}

std::string instance_names(const ListedSet& entry) {
  constexpr std::size_t kShown = 12;
  std::string text;
  std::size_t seen = 0;
  std::unordered_map<std::string_view, std::size_t, KeyedFoldedHash, FoldedEqual> named;
  if (entry.set().identity == InstanceIdentity::kNameAndId) {
    entry.each_instance([&](const InstanceView& instance) { ++named[instance.name]; });
  }
  entry.each_instance([&](const InstanceView& instance) {
    if (seen++ >= kShown) return;
    if (!text.empty()) text += "  ";
    text += instance.name.empty() ? "-" : instance.name;
    const auto same = named.find(instance.name);
    if (same != named.end() && same->second > 1) text += fmt::format("#{}", instance.id);
  });
  if (entry.instances_count > kShown) {
    text += fmt::format("  ... {} in all", entry.instances_count);
  }
  return text.empty() ? "none now" : text;
}

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// A block of lines a counter: everything that is known about it.
void describe_counters(const std::vector<ListedSet>& listed, const RowStyle& style,
                       const TextSink& to) {
  constexpr std::size_t kIndent = 12;
  const Paint paint(style.color);
  const std::size_t room = style.columns > 2 * kIndent ? style.columns - kIndent : kUnlimited;
  std::string out;
  bool is_first = true;
  const auto put = [&](std::string_view label, const std::string& text) {
    if (text.empty()) return;
    out += fmt::format("  {:<10}{}\n", label,
                       wrap(escape_for_terminal(text, style.charset), room, kIndent));
  };
  for (const auto& entry : listed) {
    for (const auto index : entry.counters) {
      const auto& counter = entry.set().counters[index];
      const auto kind = kind_of(counter);
      if (!is_first) out += '\n';
      is_first = false;
      out += paint.heading(escape_for_terminal(windows_text(entry, counter), style.charset)) + "\n";
      put("short", path_text(entry, counter));
      put("kind", fmt::format("{}: {}", kind.kind, kind.phrase));
      put("type", fmt::format("{} ({:#010x})", type_text(counter.type), bits_of(counter.type)));
      const auto unit = value_unit(counter);
      put("values", buckets_text(counter));
      put("unit", unit.empty() || unit == counter.unit || counter.unit.empty()
                      ? unit
                      : fmt::format("{}, stored in {}", unit, counter.unit));
      put("help", counter.help);
      put("id", fmt::format("{} in {}", counter.id, entry.set().guid.text()));
      if (!entry.single()) put("instances", instance_names(entry));
      put("provider", provider_text(*entry.provider));
      to(std::exchange(out, {}));
    }
  }
}

void print_listing(const Invocation& invocation, const Selection& selection,
                   std::vector<ListedSet> listed, const Console& console, const TextSink& out) {
  sort_for_reading(listed);
  const auto style = style_of(invocation, console);
  const bool people = style.format == Format::kTable || invocation.format == Format::kAuto;
  if (invocation.providers)
    return list_providers(selection.catalog(), invocation.details, style, out);
  if (invocation.instances) return list_instances(listed, style, out);
  // Blocks of lines read the same in a pipe; a format that was asked for is kept.
  if (invocation.details && people) return describe_counters(listed, style, out);
  if (invocation.details || !selection.patterns.empty()) return list_counters(listed, style, out);
  list_sets(listed, style, out);
}

}  // namespace

int list(const Invocation& invocation, Console& console) {
  if (invocation.registrations) return list_registrations(invocation, console);
  Waiter waiter(invocation.timeout);
  auto selection = Selection::open(invocation.selection, waiter);
  if (!selection) return explain_failure(selection.error(), waiter, console);
  auto output = Output::open(console, invocation.output);
  if (!output) return explain_failure(output.error(), waiter, console);

  // Without a choice, also what cannot be sampled now is listed: sets without instances.
  const bool everything = selection->patterns.empty() && invocation.selection.excluded.empty();
  auto listed =
      everything ? list_everything(selection->catalog()) : list_selected(selection->query);
  if (everything) add_answered(selection->query, listed);
  std::set<std::string> said;
  const int answered = report_answers(selection->query.answers(), console, said);
  const int left_out = report_left_out(selection->catalog(), console);
  int code = kExitDone;
  if (!everything || selection->log != nullptr) {
    code = report_unmatched(*selection, console, add_empty_sets(*selection, listed));
  } else if (listed.empty() &&
             (!invocation.providers || selection->catalog().providers().empty())) {
    code = report_no_provider(selection->catalog(), console);
  } else {
    code = report_hidden(selection->catalog(), console);
  }
  if (invocation.strict) code = std::max(code, left_out);
  const bool show_providers = invocation.providers && !selection->catalog().providers().empty();
  if (!listed.empty() || show_providers) {
    print_listing(invocation, *selection, std::move(listed), console,
                  [&](std::string_view text) { return output->write(text); });
  } else if (style_of(invocation, console).format == Format::kJson) {
    output->write("[]\n");
  }
  static_cast<void>(report_damages(*selection, console));
  return output->finish(std::max(code, answered));
}

}  // namespace meterbank::cli
