// SPDX-License-Identifier: Apache-2.0
//
// The rule of utf8.hpp: which code points of a foreign text are shown. Alone in this file, so that
// a test can put the opposite in its place.
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

// U+200C and U+200D: Persian and the scripts of India cannot be spelled without them.
bool is_joiner(char32_t code_point) noexcept {
  return code_point == 0x200C || code_point == 0x200D;
}

// Arabic, Syriac, N'Ko and their neighbours, the scripts of India, Myanmar, Khmer, Mongolian.
bool is_of_joining_script(char32_t code_point) noexcept {
  return (code_point >= 0x0620 && code_point <= 0x0DFF) ||
         (code_point >= 0x1000 && code_point <= 0x109F) ||
         (code_point >= 0x1780 && code_point <= 0x18AF) ||
         (code_point >= 0xFB50 && code_point <= 0xFDFF) ||
         (code_point >= 0xFE70 && code_point <= 0xFEFC);
}

}  // namespace

bool TextScan::shows(const DecodedCodePoint& decoded) noexcept {
  const char32_t code_point = decoded.code_point;
  const char32_t before = previous_;
  previous_ = 0;  // until this one turns out to be shown
  if (!decoded.valid || is_hidden(code_point)) return false;
  if (charset_ == Charset::kAscii && code_point >= 0x80) return false;
  if (is_joiner(code_point)) {
    const auto next = decode_utf8(rest_.substr(decoded.length));
    if (!is_of_joining_script(before) || !is_of_joining_script(next.code_point)) return false;
  } else if (cells_of(code_point) == 0) {
    if (before == 0 || marks_ == kMarksMax) return false;
    ++marks_;
  } else {
    marks_ = 0;
  }
  previous_ = code_point;
  return true;
}

bool TextScan::next(TextPart& part) noexcept {
  if (rest_.empty()) return false;
  const std::string_view text = rest_;
  while (!rest_.empty()) {
    if (const std::size_t plain = plain_bytes(rest_); plain != 0) {
      previous_ = static_cast<unsigned char>(rest_[plain - 1]);
      marks_ = 0;
      rest_.remove_prefix(plain);
      continue;
    }
    const auto decoded = decode_utf8(rest_);
    const char32_t before = previous_;
    if (shows(decoded)) {
      rest_.remove_prefix(decoded.length);
      continue;
    }
    if (rest_.size() != text.size()) {
      previous_ = before;  // told once more when this part is the next
      break;
    }
    rest_.remove_prefix(decoded.length);
    part = {text.substr(0, decoded.length),
            decoded.valid ? TextPart::Kind::kHidden : TextPart::Kind::kNotUtf8, decoded.code_point};
    return true;
  }
  part = {text.substr(0, text.size() - rest_.size()), TextPart::Kind::kShown, 0};
  return true;
}

}  // namespace meterbank
