// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "generator/manifest/rules/rules.hpp"
#include "generator/manifest/rules/wording.hpp"
#include "generator/manifest/words.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::generator {
namespace {

void check_name_of(const Manifest& manifest, Problems& problems) {
  const Provider& provider = manifest.provider;
  const std::string_view word = word_of(manifest.language, "providerName", "name");
  const Place place = first_known({provider.name.place, provider.place});
  if (provider.name.value.empty()) {
    problems.add(place, "the provider has no name", fmt::format("say  {} = \"...\"", word));
    return;
  }
  const NameCheck name = check_name(provider.name.value, NameKind::kProvider);
  if (!name.ok()) {
    problems.add(place, describe(name, provider.name.value, NameKind::kProvider),
                 std::string(remedy_for(name.fault)));
  } else if (provider.name.value.size() > kProviderNameBytesMax) {
    problems.add(place,
                 fmt::format("provider name {} is longer than {} bytes",
                             in_quotes(provider.name.value), kProviderNameBytesMax),
                 "it becomes part of the names of files: take a shorter one");
  }
}

void check_symbol(const Manifest& manifest, Problems& problems) {
  const Provider& provider = manifest.provider;
  if (!provider.symbol.value.empty()) {
    if (is_identifier(provider.symbol.value)) return;
    problems.add(
        first_known({provider.symbol.place, provider.place}),
        fmt::format("provider symbol {} is not a C identifier", in_quotes(provider.symbol.value)),
        "letters, digits and underscores, no digit first, and no keyword of C or C++");
    return;
  }
  const bool is_user = provider.mode.value == ProviderMode::kUser;
  if (manifest.language == Language::kXml && is_user) {
    problems.add(first_known({provider.symbol.place, provider.place}),
                 "a provider in user mode needs a symbol",
                 "say  symbol=\"...\": the generated code has a variable of that name");
    return;
  }
  if (provider.name.value.empty() || is_identifier(snake_case(provider.name.value))) return;
  problems.add(first_known({provider.name.place, provider.place}),
               fmt::format("no identifier can be made of the provider name {}",
                           in_quotes(provider.name.value)),
               fmt::format("say  symbol{}\"...\"", word_of(manifest.language, "=", " = ")));
}

void check_application(const Manifest& manifest, Problems& problems) {
  const Placed<std::string>& application = manifest.provider.application;
  if (application.value.empty()) return;
  const std::string_view word = word_of(manifest.language, "applicationIdentity", "application");
  if (!check_name(application.value, NameKind::kProvider).ok()) {
    problems.add(application.place,
                 fmt::format("{} {} is not the path of a file", word, in_quotes(application.value)),
                 "at most 1023 bytes of UTF-8 without control characters");
  }
}

}  // namespace

void check_provider(const Manifest& manifest, Problems& problems) {
  check_name_of(manifest, problems);
  check_symbol(manifest, problems);
  check_application(manifest, problems);
  const Provider& provider = manifest.provider;
  if (provider.guid.is_said() && provider.guid.value.is_zero()) {
    problems.add(provider.guid.place, "the GUID of the provider is zero",
                 "uuidgen makes a new one");
  }
  if (manifest.countersets.empty()) {
    problems.add(provider.place, "the provider has no counterset",
                 "there is nothing to generate from it");
  }
  if (manifest.countersets.size() > kRegistrationsMax) {
    problems.add(manifest.countersets[kRegistrationsMax].place,
                 fmt::format("the provider has {} countersets, {} are the most",
                             manifest.countersets.size(), kRegistrationsMax),
                 "divide them among several providers");
  }
}

}  // namespace meterbank::generator
