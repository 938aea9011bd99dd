// SPDX-License-Identifier: Apache-2.0
#include "agent/config/headers_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "agent/config/small_file.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::agent {
namespace {

constexpr std::size_t kHeadersBytesMax = std::size_t{64} << 10;

bool is_name_character(char character) noexcept {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";  // RFC 9110, 5.6.2
  const bool is_letter =
      (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  const bool is_digit = character >= '0' && character <= '9';
  return is_letter || is_digit || kOthers.find(character) != std::string_view::npos;
}

// Why not; empty: the line can be sent.
std::string_view fault_of(std::string_view line) {
  constexpr std::array<std::string_view, 7> kReserved = {
      "content-encoding",  "content-type",
      "content-length",    "host",
      "transfer-encoding", "x-prometheus-remote-write-version",
      "user-agent"};
  const std::string_view name = line.substr(0, line.find(':'));
  if (name.empty() || name.size() == line.size() ||
      !std::all_of(name.begin(), name.end(), is_name_character)) {
    return "is not a header";
  }
  const bool has_control = std::any_of(line.begin(), line.end(), [](char character) {
    return static_cast<unsigned char>(character) < ' ' && character != '\t';
  });
  if (has_control) return "has a control character";
  const bool is_reserved =
      std::any_of(kReserved.begin(), kReserved.end(),
                  [name](std::string_view reserved) { return equal_folded(name, reserved); });
  return is_reserved ? "is set by the agent" : std::string_view();
}

}  // namespace

Result<std::vector<std::string>> read_headers_file(const std::string& path) {
  const auto text = read_small_file(path, kHeadersBytesMax);
  if (!text) return tl::make_unexpected(text.error());
  std::vector<std::string> headers;
  std::istringstream stream(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    if (const std::string_view fault = fault_of(line); !fault.empty()) {
      return fail(ErrorCode::kInvalidArgument, fmt::format("{}: line {} {}", path, number, fault),
                  "Authorization: Bearer TOKEN");
    }
    headers.push_back(std::move(line));
  }
  return headers;
}

}  // namespace meterbank::agent
