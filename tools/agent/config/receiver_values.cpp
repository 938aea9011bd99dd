// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "agent/config/settings.hpp"
#include "agent/config/words.hpp"
#include "meterbank/base/machine_name.hpp"
#include "push/delivery/http_post.hpp"

namespace meterbank::agent {
namespace {

using exposition::Label;

void add_default(std::vector<Label>& labels, std::string_view name, std::string value) {
  const bool is_set = std::any_of(labels.begin(), labels.end(),
                                  [name](const Label& label) { return label.name == name; });
  if (!is_set && !value.empty()) labels.push_back({std::string(name), std::move(value)});
}

// Names that both protocols take; OpenTelemetry's may have dots.
bool is_label_name(std::string_view name) noexcept {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name.starts_with("__")) return false;
  return std::all_of(name.begin(), name.end(), [](char character) {
    const bool is_letter =
        (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
    const bool is_digit = character >= '0' && character <= '9';
    return is_letter || is_digit || character == '_' || character == '.';
  });
}

}  // namespace

Result<std::chrono::milliseconds> parse_interval(std::int64_t milliseconds) {
  constexpr std::int64_t kLeast = 100, kMost = 86'400'000;
  return parse_milliseconds("interval", milliseconds, kLeast, kMost);
}

Result<push::Protocol> parse_protocol(const std::string& word) {
  using push::Protocol;
  constexpr std::array kChoices{NamedValue<Protocol>{"otlp", Protocol::kOtlp},
                                NamedValue<Protocol>{"remote-write", Protocol::kRemoteWrite},
                                NamedValue<Protocol>{"remote-write-1", Protocol::kRemoteWrite1}};
  return choose("protocol", word, kChoices);
}

Result<push::Coding> parse_coding(const std::string& word) {
  using push::Coding;
  constexpr std::array kChoices{NamedValue<Coding>{"gzip", Coding::kGzip},
                                NamedValue<Coding>{"zstd", Coding::kZstd},
                                NamedValue<Coding>{"none", Coding::kIdentity}};
  return choose("compress", word, kChoices);
}

Result<Label> parse_label(const std::string& text) {
  const std::size_t end = text.find('=');
  const std::string name = text.substr(0, end);
  if (end != std::string::npos && end + 1 < text.size() && is_label_name(name)) {
    return Label{name, exposition::clean_text(text.substr(end + 1))};
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid label: {}", text),
              "NAME=VALUE, as in env=production");
}

Result<push::ReceiverOptions> parse_receiver(const std::string& text) {
  const std::size_t end = text.find('=');
  push::ReceiverOptions receiver;
  const auto protocol = parse_protocol(text.substr(0, end));
  if (!protocol) return tl::make_unexpected(protocol.error());
  if (end == std::string::npos) {
    return fail(ErrorCode::kInvalidArgument, "a receiver without an address: " + text,
                text + "=http://HOST:PORT/PATH");
  }
  receiver.protocol = *protocol;
  receiver.url = text.substr(end + 1);
  if (const auto sound = push::check_url(receiver.url); !sound) {
    return tl::make_unexpected(sound.error());
  }
  return receiver;
}

Result<void> add_receiver(std::vector<push::ReceiverOptions>& receivers,
                          push::ReceiverOptions receiver) {
  if (receivers.size() == kReceiversMax) {
    return fail(ErrorCode::kInvalidArgument, "too many receivers",
                fmt::format("{} at most", kReceiversMax));
  }
  const bool is_taken =
      std::any_of(receivers.begin(), receivers.end(), [&receiver](const auto& other) {
        return !receiver.name.empty() && other.name == receiver.name;
      });
  if (is_taken) {
    return fail(ErrorCode::kInvalidArgument, "two receivers are called " + receiver.name,
                "a name of its own for each");
  }
  for (const Label& label : receiver.labels) {
    const bool has_dot = label.name.find('.') != std::string::npos;
    if (has_dot && receiver.protocol != push::Protocol::kOtlp) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("label {} of a receiver of remote write", label.name),
                  "a name without dots");
    }
  }
  receivers.push_back(std::move(receiver));
  return {};
}

void complete(std::vector<push::ReceiverOptions>& receivers) {
  std::set<std::string> names;
  for (const push::ReceiverOptions& receiver : receivers) names.insert(receiver.name);
  for (push::ReceiverOptions& receiver : receivers) {
    const std::string word(name_of(receiver.protocol));
    for (std::size_t number = 1; receiver.name.empty(); ++number) {
      const std::string name = number == 1 ? word : fmt::format("{}-{}", word, number);
      if (names.insert(name).second) receiver.name = name;
    }
    if (receiver.protocol == push::Protocol::kOtlp) continue;
    add_default(receiver.labels, "job", "meterbank");
    add_default(receiver.labels, "instance", machine_name());
  }
}

}  // namespace meterbank::agent
