// SPDX-License-Identifier: Apache-2.0
#include "agent/http/negotiation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace meterbank::agent {
namespace {

using exposition::PageFormat;

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& character : result) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return result;
}

// Cuts at `separator`, but not between quotes.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  bool is_quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') is_quoted = !is_quoted;
    if (text[at] != separator || is_quoted) continue;
    parts.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

struct Choice {
  std::string name;  // lower case
  std::vector<std::pair<std::string, std::string>> parameters;
  double quality = 1;

  // Empty: there is none.
  [[nodiscard]] std::string_view parameter(std::string_view wanted) const noexcept {
    for (const auto& [known, value] : parameters) {
      if (known == wanted) return value;
    }
    return {};
  }
};

double quality_of(std::string_view text) noexcept {
  double quality = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), quality);
  const bool is_number = end.ec == std::errc() && end.ptr == text.data() + text.size();
  return is_number ? std::clamp(quality, 0.0, 1.0) : 0;
}

Choice parse_choice(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ';');
  Choice choice;
  choice.name = lower(parts.front());
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const std::size_t equals = parts[part].find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name = lower(trimmed(parts[part].substr(0, equals)));
    std::string_view value = trimmed(parts[part].substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (name == "q") {
      choice.quality = quality_of(value);
    } else {
      choice.parameters.emplace_back(name, value);
    }
  }
  return choice;
}

std::vector<Choice> parse_choices(std::string_view header) {
  // More than any client names; what comes behind is not looked at.
  constexpr std::size_t kChoicesMax = 32;
  std::vector<Choice> choices;
  for (const std::string_view part : split(header, ',')) {
    if (part.empty()) continue;
    if (choices.size() == kChoicesMax) break;
    choices.push_back(parse_choice(part));
  }
  return choices;
}

std::optional<PageFormat> format_of(const Choice& choice) {
  const std::string_view version = choice.parameter("version");
  if (choice.name == "application/vnd.google.protobuf") {
    const bool is_ours = choice.parameter("proto") == "io.prometheus.client.MetricFamily" &&
                         choice.parameter("encoding") == "delimited";
    return is_ours ? std::optional(PageFormat::kProtobuf) : std::nullopt;
  }
  if (choice.name == "application/openmetrics-text") {
    // The newer one only for clients that ask for it, as its specification says.
    if (version == "2.0.0") return PageFormat::kOpenMetrics2;
    const bool is_ours = version.empty() || version == "1.0.0";
    return is_ours ? std::optional(PageFormat::kOpenMetrics) : std::nullopt;
  }
  if (choice.name == "text/plain") {
    const bool is_ours = version.empty() || version == "0.0.4";
    return is_ours ? std::optional(PageFormat::kText) : std::nullopt;
  }
  if (choice.name == "*/*" || choice.name == "text/*") return PageFormat::kText;
  return std::nullopt;
}

}  // namespace

PageFormat choose_format(std::string_view accept) {
  PageFormat best = PageFormat::kText;
  double best_quality = 0;
  for (const Choice& choice : parse_choices(accept)) {
    const auto format = format_of(choice);
    if (!format || choice.quality <= best_quality) continue;
    best = *format;
    best_quality = choice.quality;
  }
  return best;
}

std::string_view name_of(Encoding encoding) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"identity", "gzip", "zstd"};
  return kNames[static_cast<std::size_t>(encoding)];
}

Encoding choose_encoding(std::string_view accept_encoding) {
  const std::vector<Choice> choices = parse_choices(accept_encoding);
  Encoding best = Encoding::kIdentity;
  double best_quality = 0;
  for (const Encoding encoding : {Encoding::kZstd, Encoding::kGzip, Encoding::kIdentity}) {
    for (const Choice& choice : choices) {
      const bool is_meant = choice.name == name_of(encoding) ||
                            (encoding == Encoding::kGzip && choice.name == "x-gzip");
      if (!is_meant || choice.quality <= best_quality) continue;
      best = encoding;
      best_quality = choice.quality;
    }
  }
  return best;
}

}  // namespace meterbank::agent
