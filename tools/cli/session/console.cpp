// SPDX-License-Identifier: Apache-2.0
#include "cli/session/console.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace meterbank::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

}  // namespace

bool wants_color(ColorWhen when, const Console& console) {
  if (when != ColorWhen::kAuto) return when == ColorWhen::kAlways;
  if (!environment("NO_COLOR").empty()) return false;
  const auto force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return has_screen(console);
}

bool has_screen(const Console& console) {
  const auto term = environment("TERM");
  return console.out_is_terminal && !term.empty() && term != "dumb";
}

Charset out_charset(const Console& console) {
  return console.out_is_terminal && !locale_is_utf8() ? Charset::kAscii : Charset::kUtf8;
}

std::string Paint::wrap(std::string_view code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  std::string out(code);
  out.append(text).append("\x1b[0m");
  return out;
}

void say(const Console& console, std::string_view line, std::string_view end) {
  const bool is_ascii = console.err_is_terminal && !locale_is_utf8();
  console.err << escape_composed(line, Composed::kLine, is_ascii ? Charset::kAscii : Charset::kUtf8)
              << end;
  console.err.flush();
}

void complain(const Console& console, std::string_view message) {
  say(console, fmt::format("meterbank: {}", message));
}

std::string remedy_of(const Error& error) {
  if (!error.remedy.empty()) return error.remedy;
  switch (error.code) {
    case ErrorCode::kUnsealed:
    case ErrorCode::kSparse:
    case ErrorCode::kWrongAbi:
      return "update the library of that provider";
    case ErrorCode::kNewerLayout:
      return "a newer meterbank";
    case ErrorCode::kWrongFilesystem:
      return "ordinary pages for that provider's memory";
    case ErrorCode::kDenied:
      return "as the provider's user, or as root";
    case ErrorCode::kNotSealable:
    case ErrorCode::kBadSize:
    case ErrorCode::kNotASegment:
    case ErrorCode::kCorrupt:
    case ErrorCode::kGone:
      return "restart that provider";
    default:
      return {};
  }
}

std::string named_cause(const Error& error) {
  auto cause = error;
  cause.remedy.clear();
  const bool is_usage = error.code == ErrorCode::kInvalidArgument;
  if (is_usage || error.code == ErrorCode::kSystem) return cause.message();
  return fmt::format("{} [{}]", cause.message(), name_of(error.code));
}

std::string named_message(const Error& error) {
  const auto remedy = remedy_of(error);
  return named_cause(error) + (remedy.empty() ? "" : "; try: ") + remedy;
}

void complain(const Console& console, const Error& error) {
  complain(console, named_message(error));
}

}  // namespace meterbank::cli
