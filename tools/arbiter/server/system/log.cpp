// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/system/log.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::arbiter {
namespace {

constexpr double kLinesPerSecond = 1;
constexpr double kLinesAtOnce = 10;
// A pipe that is writable at all takes so many bytes without waiting (PIPE_BUF).
constexpr std::size_t kLineBytesMax = 4096;

void write_line(std::string_view text) {
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&error, 1, 0) != 1 || (error.revents & POLLOUT) == 0) return;
  const auto cleaned =
      escape_composed(text.substr(0, kLineBytesMax), Composed::kLine, charset_of(STDERR_FILENO));
  std::size_t kept = 0;
  for (;;) {
    const auto unit = unit_bytes(std::string_view(cleaned).substr(kept));
    if (unit == 0 || kept + unit > kLineBytesMax - 64) break;
    kept += unit;
  }
  const auto line = fmt::format("meterbank-pmud: {}\n", std::string_view(cleaned).substr(0, kept));
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace

void Log::say(std::string_view sentence) noexcept {
  try {
    write_line(sentence);
  } catch (const std::exception&) {
    ++left_out_;
  }
}

void Log::complain(std::string_view sentence, std::uint64_t now) noexcept {
  const auto passed = static_cast<double>(now - std::min(now, last_)) / 1e9;
  last_ = now;
  share_ = std::min(kLinesAtOnce, share_ + passed * kLinesPerSecond);
  if (share_ < 1) {
    ++left_out_;
    return;
  }
  share_ -= 1;
  try {
    if (left_out_ > 0) write_line(fmt::format("{} lines were left out", left_out_));
    left_out_ = 0;
    write_line(sentence);
  } catch (const std::exception&) {
    ++left_out_;
  }
}

}  // namespace meterbank::arbiter
