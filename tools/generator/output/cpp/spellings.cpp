// SPDX-License-Identifier: Apache-2.0
#include "generator/output/cpp/spellings.hpp"

#include <array>
#include <charconv>

namespace meterbank::generator {
namespace {

struct NamedType {
  CounterType type;
  std::string_view name;
};
constexpr std::array kTypes{
    NamedType{CounterType::kRawCountHex, "kRawCountHex"},
    NamedType{CounterType::kLargeRawCountHex, "kLargeRawCountHex"},
    NamedType{CounterType::kRawCount, "kRawCount"},
    NamedType{CounterType::kLargeRawCount, "kLargeRawCount"},
    NamedType{CounterType::kDelta, "kDelta"},
    NamedType{CounterType::kLargeDelta, "kLargeDelta"},
    NamedType{CounterType::kCounter, "kCounter"},
    NamedType{CounterType::kBulkCount, "kBulkCount"},
    NamedType{CounterType::kSampleCounter, "kSampleCounter"},
    NamedType{CounterType::kQueueLength, "kQueueLength"},
    NamedType{CounterType::kLargeQueueLength, "kLargeQueueLength"},
    NamedType{CounterType::kQueueLength100Ns, "kQueueLength100Ns"},
    NamedType{CounterType::kQueueLengthObject, "kQueueLengthObject"},
    NamedType{CounterType::kTimer, "kTimer"},
    NamedType{CounterType::kTimerInverse, "kTimerInverse"},
    NamedType{CounterType::kTimer100Ns, "kTimer100Ns"},
    NamedType{CounterType::kTimer100NsInverse, "kTimer100NsInverse"},
    NamedType{CounterType::kTimerObject, "kTimerObject"},
    NamedType{CounterType::kPrecisionSystemTimer, "kPrecisionSystemTimer"},
    NamedType{CounterType::kPrecision100NsTimer, "kPrecision100NsTimer"},
    NamedType{CounterType::kPrecisionObjectTimer, "kPrecisionObjectTimer"},
    NamedType{CounterType::kMultiTimer, "kMultiTimer"},
    NamedType{CounterType::kMultiTimerInverse, "kMultiTimerInverse"},
    NamedType{CounterType::kMultiTimer100Ns, "kMultiTimer100Ns"},
    NamedType{CounterType::kMultiTimer100NsInverse, "kMultiTimer100NsInverse"},
    NamedType{CounterType::kSampleFraction, "kSampleFraction"},
    NamedType{CounterType::kRawFraction, "kRawFraction"},
    NamedType{CounterType::kLargeRawFraction, "kLargeRawFraction"},
    NamedType{CounterType::kAverageTimer, "kAverageTimer"},
    NamedType{CounterType::kAverageBulk, "kAverageBulk"},
    NamedType{CounterType::kElapsedTime, "kElapsedTime"},
    NamedType{CounterType::kNoData, "kNoData"},
    NamedType{CounterType::kText, "kText"},
    NamedType{CounterType::kSampleBase, "kSampleBase"},
    NamedType{CounterType::kAverageBase, "kAverageBase"},
    NamedType{CounterType::kRawBase, "kRawBase"},
    NamedType{CounterType::kLargeRawBase, "kLargeRawBase"},
    NamedType{CounterType::kMultiBase, "kMultiBase"},
};

// Compilers warn of these, because what they hold is not what one reads.
bool reorders_text(char32_t letter) noexcept {
  return letter == 0x61c || (letter >= 0x200e && letter <= 0x200f) ||
         (letter >= 0x202a && letter <= 0x202e) || (letter >= 0x2066 && letter <= 0x2069);
}

struct Letter {
  std::string_view bytes;
  char32_t value = 0;  // of a letter of at least two bytes
};

// Takes the first one off valid UTF-8.
Letter take_letter(std::string_view& text) noexcept {
  std::size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) ++bytes;
  Letter letter{text.substr(0, bytes), 0};
  text.remove_prefix(bytes);
  if (bytes == 1) return letter;
  letter.value = static_cast<unsigned char>(letter.bytes[0]) & (0xffU >> (bytes + 1));
  for (const char c : letter.bytes.substr(1)) {
    letter.value = letter.value << 6 | (static_cast<unsigned char>(c) & 0x3f);
  }
  return letter;
}

std::string hex(unsigned value, std::size_t digits) {
  std::string text(digits, '0');
  std::array<char, 8> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16).ptr;
  const auto size = static_cast<std::size_t>(end - buffer.data());
  return text.replace(digits - size, size, buffer.data(), size);
}

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string_view enumerator_of(CounterType type) noexcept {
  for (const NamedType& each : kTypes) {
    if (each.type == type) return each.name;
  }
  return {};
}

std::string_view enumerator_of(ValueForm form) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"kUnsigned", "kSigned", "kReal", "kText",
                                                   "kDistribution"};
  return kNames[static_cast<std::size_t>(form)];
}

std::string_view enumerator_of(InstanceKind kind) noexcept {
  switch (kind) {
    case InstanceKind::kSingle:
      return "kSingle";
    case InstanceKind::kGlobalAggregate:
      return "kGlobalAggregate";
    case InstanceKind::kMultipleAggregate:
      return "kMultipleAggregate";
    case InstanceKind::kGlobalAggregateHistory:
      return "kGlobalAggregateHistory";
    default:
      return "kMultiple";
  }
}

std::string_view aggregate_constant(std::uint32_t aggregate) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"kAggregateUndefined", "kAggregateSum",
                                                   "kAggregateAverage", "kAggregateMinimum",
                                                   "kAggregateMaximum"};
  return kNames[aggregate];
}

std::string literal(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::string literal(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const Letter letter = take_letter(text);
    const char first = letter.bytes.front();
    if (reorders_text(letter.value)) {
      quoted += "\\u" + hex(letter.value, 4);
    } else if (is_control(first)) {
      quoted += "\\" + std::string(1, static_cast<char>('0' + (first >> 6))) +
                static_cast<char>('0' + (first >> 3 & 7)) + static_cast<char>('0' + (first & 7));
    } else {
      if (first == '"' || first == '\\') quoted += '\\';
      // ??= and its like are other characters to a compiler of C.
      if (first == '?' && quoted.back() == '?') quoted += '\\';
      quoted.append(letter.bytes);
    }
  }
  return quoted + "\"";
}

std::string comment_text(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const Letter letter = take_letter(text);
    if (reorders_text(letter.value)) continue;
    if (is_control(letter.bytes.front())) {
      plain += ' ';
    } else {
      plain.append(letter.bytes);
    }
  }
  return plain;
}

}  // namespace meterbank::generator
