// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

// Functions that write to a stream of the process, and the streams.
constexpr std::array<std::string_view, 12> kPrinters{"printf", "fprintf", "vprintf", "vfprintf",
                                                     "puts",   "fputs",   "fwrite",  "perror",
                                                     "cout",   "cerr",    "clog",    "syslog"};
// What such a stream is called where it is handed on.
constexpr std::array<std::string_view, 4> kStreams{"out", "err", "out_", "err_"};

// Files that print, each through escape_composed() or escape_for_terminal(), with the reason why
// they do.
struct Sink {
  std::string_view path, reason;
};
constexpr std::array<Sink, 24> kSinks{{
    {"publisher/src/notice/notice.cpp", "what the library says on stderr"},
    {"tools/cli/session/console.cpp", "messages of meterbank"},
    {"tools/cli/session/output.cpp", "results of meterbank"},
    {"tools/cli/watch/watch_screens.cpp", "pictures that meterbank watch --batch prints"},
    {"tools/cli/main.cpp", "names the streams"},
    {"tools/generator/command/command.cpp", "messages of meterbank-gen"},
    {"tools/generator/command/files.cpp", "generated files, escaped as their languages want it"},
    {"tools/generator/command/main.cpp", "names the streams"},
    {"tools/arbiter/server/run.cpp", "messages of meterbank-pmud"},
    {"tools/arbiter/server/main.cpp", "names the streams"},
    {"tools/agent/run.cpp", "messages of meterbank-agent"},
    {"tools/agent/receivers/push_once.cpp", "what came of a push, escaped"},
    {"tools/agent/main.cpp", "names the streams"},
    {"tools/page/run.cpp", "the address that meterbank-view serves"},
    {"tools/page/main.cpp", "names the streams"},
    {"tools/pcp/run.cpp", "messages of pmdameterbank"},
    {"tools/pcp/main.cpp", "names the streams"},
    {"publisher/src/provider.cpp", "says why there are no counters"},
    {"publisher/src/notice/standard_error.cpp", "says what keeps readers from a provider"},
    {"publisher/pcw/src/kernel/start_driver.cpp", "says why a driver does not start"},
    {"tools/arbiter/server/system/log.cpp", "the log of meterbank-pmud"},
    {"shm/windows/src/start_wmain.cpp", "a text without foreign parts"},
    {"shm/windows/include/tchar.h", "names of Windows for printf"},
    {"shm/windows/include/meterbank/windows/console_text.h", "printf of a program's own text"},
}};

bool is_followed_by_shift(std::string_view code, std::size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])) != 0) ++at;
  return code.substr(at).starts_with("<<");
}

}  // namespace

Findings find_raw_printing(const SourceFile& file) {
  const bool is_sink = std::any_of(kSinks.begin(), kSinks.end(),
                                   [&](const Sink& sink) { return sink.path == file.path; });
  if (is_sink) return {};
  constexpr std::string_view kRemedy =
      ": only the sinks in printing_rules.cpp print, because they clean foreign text";
  Findings findings;
  const std::string code = split_layers(file.text).code;
  const auto note = [&](std::size_t at, std::string_view word) {
    findings.push_back({file.path, line_at(code, at), std::string(word) + std::string(kRemedy)});
  };
  for (const auto word : kPrinters) {
    for (const std::size_t at : find_words(code, word)) note(at, word);
  }
  for (const auto word : kStreams) {
    for (const std::size_t at : find_words(code, word)) {
      if (is_followed_by_shift(code, at + word.size())) note(at, word);
    }
  }
  for (const std::size_t at : find_words(code, "STDERR_FILENO")) {
    const auto begin = code.rfind("write", at);
    if (begin != std::string::npos && code.find(';', begin) > at) note(at, "write to stderr");
  }
  return findings;
}

}  // namespace meterbank::tidy
