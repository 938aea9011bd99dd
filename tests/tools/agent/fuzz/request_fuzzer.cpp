// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a client may send, as a file of settings and as a foreign text on a page. Each
// function ends; what it refuses has a reason; and a label on a page is the text it was made of.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/config/settings.hpp"
#include "agent/http/negotiation.hpp"
#include "agent/http/page_request.hpp"
#include "exposition/family/metric_name.hpp"
#include "exposition/page/labels.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::agent {
namespace {

void require(bool condition) {
  if (!condition) ::abort();
}

// "name=value" lines.
Parameters parameters_of(std::string_view text) {
  Parameters parameters;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + (line.size() < text.size() ? 1 : 0));
    const std::size_t equals = line.find('=');
    const bool has_value = equals != std::string_view::npos;
    parameters.emplace_back(line.substr(0, equals), has_value ? line.substr(equals + 1) : "");
  }
  return parameters;
}

void check_request(std::string_view text) {
  static_cast<void>(choose_format(text));
  static_cast<void>(choose_encoding(text));
  const auto of_sets = parse_set_request(parameters_of(text));
  require(of_sets || !of_sets.error().what.empty());
  const auto options = parse_page_request(parameters_of(text));
  require(options || !of_sets);
  if (!options) {
    require(!options.error().what.empty() && !options.error().remedy.empty());
    return;
  }
  require(options->shard < options->shards);
  for (std::size_t bound = 1; bound < options->buckets.size(); ++bound) {
    require(options->buckets[bound - 1] < options->buckets[bound]);
  }
}

void check_settings(std::string_view text) {
  syntax::Problems problems;
  const auto settings = parse_settings(text, problems);
  require(settings.has_value() == problems.empty());
  require(problems.empty() || !problems.text("agent.toml").empty());
}

// What a parser of the text formats makes of the value behind `name="`.
std::string unescaped(std::string_view label) {
  std::string text;
  for (std::size_t at = 0; at < label.size(); ++at) {
    if (label[at] != '\\') {
      require(label[at] != '"' && label[at] != '\n');
      text += label[at];
      continue;
    }
    require(++at < label.size());
    text += label[at] == 'n' ? '\n' : label[at];
  }
  return text;
}

void check_label(std::string_view text) {
#ifdef METERBANK_FUZZ_CONTROL
  const std::string clean(text);  // wrong: foreign text is cleaned first
#else
  const std::string clean = exposition::clean_text(text);
#endif
  require(is_valid_utf8(clean) && clean.find('\0') == std::string::npos);
  std::string label;
  exposition::append_label(label, "x", clean);
  require(label.starts_with("x=\"") && label.ends_with("\""));
  require(unescaped(std::string_view(label).substr(3, label.size() - 4)) == clean);
  const std::string name = exposition::snake_case(text);
  require(exposition::snake_case(name) == name);
  require(exposition::with_unit_last(name, "bytes").ends_with("bytes"));
}

}  // namespace
}  // namespace meterbank::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  meterbank::agent::check_request(text);
  meterbank::agent::check_settings(text);
  meterbank::agent::check_label(text);
  return 0;
}
