// SPDX-License-Identifier: Apache-2.0
//
// `list --registrations`: what providers have declared, in whatever state it is. It sends no
// request and registers no interest, so that listing does not change what is listed.
#include <algorithm>
#include <string>
#include <utility>

#include "cli/format/listing.hpp"
#include "cli/format/rows/row_words.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank::cli {
namespace {

// Whether one of the paths names the set and its provider; what else they name does not matter.
bool is_wanted(const std::vector<CounterPath>& paths, const ProviderView& provider,
               const Counterset& set) {
  if (paths.empty()) return true;
  return std::any_of(paths.begin(), paths.end(), [&](const CounterPath& path) {
    const GlobOptions escapes{.backslash_escapes = true};
    if (path.provider_pid && *path.provider_pid != provider.pid) return false;
    if (path.provider && !Glob(*path.provider, escapes).matches(provider.name)) return false;
    const Glob name(path.set, escapes);
    return name.matches(set.name) || (!set.symbol.empty() && name.matches(set.symbol));
  });
}

std::string flags_text(std::uint64_t flags) {
  std::string text;
  if ((flags & kRegistrationCallback) != 0) text = "callback";
  if ((flags & kRegistrationInterest) != 0) text += text.empty() ? "interest" : ",interest";
  return text;
}

void add_row(const ProviderView& provider, const RegisteredSet& registered, Listing& listing) {
  const Counterset& set = *registered.set;
  const std::uint64_t live = registered.instances.live();
  const auto flags = flags_text(registered.flags);
  auto interested = Cell::number(provider.interested(registered));
  if (flags.empty()) interested = Cell::absent();
  listing.add({Cell::text(provider.label()), Cell::text(word_of(set)), Cell::text(set.name),
               Cell::text(set.guid.text()), Cell::text(std::string(name_of(registered.state))),
               Cell::number(registered.generation), Cell::text(flags.empty() ? "-" : flags, flags),
               std::move(interested), Cell::number(live)});
}

}  // namespace

int list_registrations(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  auto texts = gather_paths(invocation.selection);
  if (!texts) return explain_failure(texts.error(), waiter, console);
  std::vector<CounterPath> paths;
  for (const std::string& text : *texts) {
    auto path = parse_path(text);
    if (!path) return explain_failure(path.error(), waiter, console);
    paths.push_back(std::move(*path));
  }
  const auto catalog = Catalog::open(catalog_options(invocation.selection));
  if (!catalog) return explain_failure(catalog.error(), waiter, console);
  const int left_out = report_left_out(*catalog, console);
  auto output = Output::open(console, invocation.output);
  if (!output) return explain_failure(output.error(), waiter, console);
  Listing listing({{"PROVIDER", "provider"},
                   {"SET", "set"},
                   {"", "name"},
                   {"", "guid"},
                   {"STATE", "state"},
                   {"GENERATION", "generation", Align::kRight},
                   {"FLAGS", "flags"},
                   {"INTERESTED", "interested", Align::kRight},
                   {"INSTANCES", "instances", Align::kRight}});
  for (const auto& provider : catalog->providers()) {
    for (const auto& registered : provider->sets) {
      if (is_wanted(paths, *provider, *registered.set)) add_row(*provider, registered, listing);
    }
  }
  if (!listing.empty()) {
    output->write(listing.print(style_of(invocation, console)));
    return output->finish(
        std::max(report_hidden(*catalog, console), invocation.strict ? left_out : kExitDone));
  }
  if (style_of(invocation, console).format == Format::kJson) output->write("[]\n");
  if (catalog->providers().empty()) return output->finish(report_no_provider(*catalog, console));
  complain(console, "no registration matches; try: meterbank list --registrations");
  return output->finish(kExitNo);
}

}  // namespace meterbank::cli
