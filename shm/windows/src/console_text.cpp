// SPDX-License-Identifier: Apache-2.0
#include "meterbank/windows/console_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "format_text.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::crt {
namespace {

constexpr int kWidthMax = 4096;  // of one field; a larger one would only fill memory

// A place in a format: %[flags][width][.precision][size]conversion
struct Field {
  std::wstring flags;
  int width = 0;
  int precision = -1;
  int bits = 0;      // the size that was written; 0: none
  wchar_t size = 0;  // the first letter of it
  wchar_t conversion = 0;
};

// Where a format takes its arguments from.
class Arguments {
 public:
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  virtual ~Arguments() = default;
  // False: there is none left.
  virtual bool next(const Field& field, Argument& argument) noexcept = 0;
};

// Arguments whose types the compiler knew; what the field says of them changes nothing.
class TypedArguments final : public Arguments {
 public:
  TypedArguments(const Argument* arguments, std::size_t count) noexcept
      : next_(arguments), end_(arguments + count) {}
  bool next(const Field& /*field*/, Argument& argument) noexcept override {
    if (next_ == end_) return false;
    argument = *next_++;
    return true;
  }

 private:
  const Argument* next_;
  const Argument* end_;
};

// Arguments of a variadic function, which are what the field says: on Windows a long has 32 bits.
class VariadicArguments final : public Arguments {
 public:
  VariadicArguments(std::va_list& arguments, Argument::Kind text_kind) noexcept
      : arguments_(arguments), text_kind_(text_kind) {}

  // NOLINTBEGIN(clang-analyzer-valist.Uninitialized): it does not see that formatted() copies one
  bool next(const Field& field, Argument& argument) noexcept override {
    switch (field.conversion) {
      case L's':
      case L'S':
        argument = Argument::of(va_arg(arguments_, const char*));
        argument.kind = kind_of_text(field);
        return true;
      case L'p':
        argument = Argument::of(va_arg(arguments_, const void*));
        return true;
      case L'c':
      case L'C':
        argument = Argument::of(va_arg(arguments_, int));
        return true;
      case L'd':
      case L'i':
        argument = field.bits == 64 ? Argument::of(va_arg(arguments_, long long))
                                    : Argument::of(va_arg(arguments_, int));
        return true;
      case L'o':
      case L'u':
      case L'x':
      case L'X':
        argument = field.bits == 64 ? Argument::of(va_arg(arguments_, unsigned long long))
                                    : Argument::of(va_arg(arguments_, unsigned int));
        return true;
      default:
        argument = field.size == L'L'
                       ? Argument::of(static_cast<double>(va_arg(arguments_, long double)))
                       : Argument::of(va_arg(arguments_, double));
        return true;
    }
  }
  // NOLINTEND(clang-analyzer-valist.Uninitialized)

 private:
  // %s has the width of the format and %S the other, unless a size says which.
  [[nodiscard]] Argument::Kind kind_of_text(const Field& field) const noexcept {
    using Kind = Argument::Kind;
    if (field.size == L'h') return Kind::kNarrow;
    if (field.size == L'l' || field.size == L'w') return Kind::kWide;
    if (field.conversion == L's') return text_kind_;
    return text_kind_ == Kind::kWide ? Kind::kNarrow : Kind::kWide;
  }

  std::va_list& arguments_;
  const Argument::Kind text_kind_;
};

// Numbers keep the bits they have, unless the format says fewer.
std::uint64_t number_in(const Argument& argument, const Field& field, bool is_signed) noexcept {
  const int own = static_cast<int>(argument.bytes) * 8;
  const int bits = std::min(own, field.bits == 0 ? 64 : field.bits);
  std::uint64_t number = argument.number;
  if (argument.kind == Argument::Kind::kReal) number = 0;
  if (bits >= 64) return number;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  number &= mask;
  if (is_signed && (number >> (bits - 1) & 1) != 0) number |= ~mask;
  return number;
}

// A number is made of ASCII, by the C library's own rules.
template <typename T>
std::wstring printed(const Field& field, const char* size, char conversion, T value) {
  std::string format = "%";
  for (const wchar_t flag : field.flags) format += static_cast<char>(flag);
  format += "*";
  if (field.precision >= 0) format += "." + std::to_string(field.precision);
  format += size;
  format += conversion;
  std::string text(64, '\0');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  // Written above from parts that fit `value`.
  const auto print = [&] {
    return std::snprintf(text.data(), text.size() + 1, format.c_str(), field.width, value);
  };
#pragma GCC diagnostic pop
  const int length = print();
  if (length < 0) return {};
  const bool fits = static_cast<std::size_t>(length) <= text.size();
  text.resize(static_cast<std::size_t>(length));
  if (!fits) static_cast<void>(print());
  return {text.begin(), text.end()};
}

std::wstring in_field(const Field& field, const std::wstring& text) {
  const auto width = static_cast<std::size_t>(field.width);
  if (text.size() >= width) return text;
  const std::wstring blanks(width - text.size(), L' ');
  return field.flags.find(L'-') == std::wstring::npos ? blanks + text : text + blanks;
}

// Narrow strings are UTF-8; a byte that is not becomes the character of its number. No byte behind
// the limit is looked at: where there is one, a NUL need not be.
std::wstring widened(const char* text, std::size_t limit) {
  std::wstring wide;
  std::string_view rest(text, length(text, limit));
  while (!rest.empty()) {
    const DecodedCodePoint next = decode_utf8(rest);
    const auto byte = static_cast<unsigned char>(rest.front());
    wide += static_cast<wchar_t>(next.valid ? next.code_point : char32_t{byte});
    rest.remove_prefix(next.valid ? next.length : 1U);
  }
  return wide;
}

std::wstring string_text(const Argument& argument, const Field& field) {
  const std::size_t limit = field.precision < 0 ? std::numeric_limits<std::size_t>::max()
                                                : static_cast<std::size_t>(field.precision);
  if (argument.pointer == nullptr) return std::wstring(L"(null)").substr(0, limit);
  if (argument.kind == Argument::Kind::kNarrow) {
    return widened(static_cast<const char*>(argument.pointer), limit);
  }
  const auto* const wide = static_cast<const wchar_t*>(argument.pointer);
  return {wide, length(wide, limit)};
}

std::wstring number_text(const Argument& argument, Field field) {
  using Kind = Argument::Kind;
  const wchar_t wanted = field.conversion;
  const bool wants_real = std::wstring(L"aAeEfFgG").find(wanted) != std::wstring::npos;
  if (argument.kind == Kind::kReal) {
    return printed(field, "", wants_real ? static_cast<char>(wanted) : 'g', argument.real);
  }
  if (argument.kind == Kind::kPointer || wanted == L'p') {
    const auto address = argument.kind == Kind::kPointer
                             ? reinterpret_cast<std::uintptr_t>(argument.pointer)
                             : static_cast<std::uintptr_t>(argument.number);
    field.precision = 16;
    return printed(field, "ll", 'X', static_cast<unsigned long long>(address));
  }
  const bool is_unsigned = wanted == L'u' || wanted == L'x' || wanted == L'X' || wanted == L'o';
  if (is_unsigned) {
    const std::uint64_t number = number_in(argument, field, false);
    return printed(field, "ll", static_cast<char>(wanted), static_cast<unsigned long long>(number));
  }
  const bool is_signed = wanted == L'd' || wanted == L'i' || argument.kind == Kind::kSigned;
  const std::uint64_t number = number_in(argument, field, is_signed);
  if (is_signed) return printed(field, "ll", 'd', static_cast<long long>(number));
  return printed(field, "ll", 'u', static_cast<unsigned long long>(number));
}

std::wstring field_text(const Argument& argument, const Field& field) {
  using Kind = Argument::Kind;
  const bool is_text = argument.kind == Kind::kNarrow || argument.kind == Kind::kWide;
  if (is_text && field.conversion != L'p') return in_field(field, string_text(argument, field));
  const bool is_number = argument.kind == Kind::kSigned || argument.kind == Kind::kUnsigned;
  if (is_number && (field.conversion == L'c' || field.conversion == L'C')) {
    return in_field(field, std::wstring(1, static_cast<wchar_t>(argument.number)));
  }
  if (is_text) {
    Argument pointer = argument;
    pointer.kind = Kind::kPointer;
    return number_text(pointer, field);
  }
  return number_text(argument, field);
}

// Walks a format once.
class Formatter {
 public:
  Formatter(const wchar_t* format, Arguments& arguments) : at_(format), arguments_(arguments) {}

  // False: the format is invalid, or asks for more arguments than there are.
  bool run(std::wstring& out) {
    while (*at_ != 0) {
      if (*at_ != L'%') {
        out += *at_++;
        continue;
      }
      ++at_;
      if (*at_ == L'%') {
        out += *at_++;
        continue;
      }
      Field field;
      Argument argument{};
      if (!read(field) || !arguments_.next(field, argument)) return false;
      out += field_text(argument, field);
    }
    return true;
  }

 private:
  bool skip(const wchar_t* word) noexcept {
    std::size_t index = 0;
    for (; word[index] != 0; ++index) {
      if (at_[index] != word[index]) return false;
    }
    at_ += index;
    return true;
  }

  bool read_number(int& number) {
    if (*at_ == L'*') {
      ++at_;
      Field whole;
      whole.conversion = L'd';
      Argument argument{};
      if (!arguments_.next(whole, argument)) return false;
      const auto value = static_cast<std::int64_t>(number_in(argument, {}, true));
      number = static_cast<int>(std::clamp<std::int64_t>(value, -kWidthMax, kWidthMax));
      return true;
    }
    number = 0;
    while (*at_ >= L'0' && *at_ <= L'9') {
      number = std::min(number * 10 + static_cast<int>(*at_++ - L'0'), kWidthMax);
    }
    return true;
  }

  bool read(Field& field) {
    while (*at_ != 0 && std::wstring(L"-+ #0").find(*at_) != std::wstring::npos) {
      field.flags += *at_++;
    }
    if (!read_number(field.width)) return false;
    if (field.width < 0) {
      field.flags += L'-';
      field.width = -field.width;
    }
    if (skip(L".") && !read_number(field.precision)) return false;
    read_size(field);
    field.conversion = *at_;
    const std::wstring known = L"diouxXcCsSaAeEfFgGp";
    if (*at_ == 0 || known.find(*at_) == std::wstring::npos) return false;
    ++at_;
    return true;
  }

  void read_size(Field& field) noexcept {
    struct Size {
      const wchar_t* word;
      int bits;
    };
    // A long has 32 bits there; an argument that is known to have 64 is printed whole all the same,
    // because a size only says less for short numbers.
    static constexpr Size kSizes[] = {{L"I64", 64}, {L"I32", 32}, {L"ll", 64}, {L"hh", 8},
                                      {L"h", 16},   {L"l", 0},    {L"w", 0},   {L"I", 64},
                                      {L"z", 64},   {L"j", 64},   {L"t", 64},  {L"L", 0}};
    for (const Size& size : kSizes) {
      if (!skip(size.word)) continue;
      field.bits = size.bits;
      field.size = size.word[0];
      return;
    }
  }

  const wchar_t* at_;
  Arguments& arguments_;
};

// Nothing: the format is malformed, or asks for more arguments than there are.
std::optional<std::wstring> text_of(const wchar_t* format, Arguments& arguments) {
  std::wstring text;
  if (!Formatter(format, arguments).run(text)) {
    errno = EINVAL;
    return std::nullopt;
  }
  return text;
}

std::wstring widened(const char* text) {
  return widened(text, std::numeric_limits<std::size_t>::max());
}

std::string narrowed(const std::wstring& text) {
  std::string narrow;
  for (const wchar_t unit : text) append_utf8(static_cast<char32_t>(unit), narrow);
  return narrow;
}

template <typename Character, typename Text>
int keep(Character* target, std::size_t capacity, std::size_t limit, const Text& text) noexcept {
  const bool cuts = limit == _TRUNCATE;
  const bool may_cut = cuts || limit < kMustFit;
  const std::size_t room = capacity - 1;
  const std::size_t kept = std::min({text.size(), room, limit});
  if (text.size() > kept && (!may_cut || (kept == room && limit > room && !cuts))) {
    target[0] = 0;
    errno = ERANGE;
    return -1;
  }
  std::copy_n(text.data(), kept, target);
  target[kept] = 0;
  return text.size() > kept ? -1 : static_cast<int>(kept);
}

}  // namespace

int format_to(wchar_t* target, std::size_t capacity, std::size_t limit, const wchar_t* format,
              const Argument* arguments, std::size_t count) noexcept {
  if (target == nullptr || capacity == 0) return -1;
  target[0] = 0;
  if (format == nullptr) return -1;
  TypedArguments list(arguments, count);
  const auto text = text_of(format, list);
  return text ? keep(target, capacity, limit, *text) : -1;
}

int format_to(char* target, std::size_t capacity, std::size_t limit, const char* format,
              const Argument* arguments, std::size_t count) noexcept {
  if (target == nullptr || capacity == 0) return -1;
  target[0] = 0;
  if (format == nullptr) return -1;
  TypedArguments list(arguments, count);
  const auto text = text_of(widened(format).c_str(), list);
  return text ? keep(target, capacity, limit, narrowed(*text)) : -1;
}

int format_to(FILE* stream, const wchar_t* format, const Argument* arguments,
              std::size_t count) noexcept {
  if (format == nullptr) return -1;
  TypedArguments list(arguments, count);
  const auto text = text_of(format, list);
  if (!text) return -1;
  return std::fputws(text->c_str(), stream) < 0 ? -1 : static_cast<int>(text->size());
}

std::optional<std::wstring> formatted(const wchar_t* format, std::va_list arguments) {
  std::va_list copy;
  va_copy(copy, arguments);
  VariadicArguments list(copy, Argument::Kind::kWide);
  auto text = text_of(format, list);
  va_end(copy);
  return text;
}

std::optional<std::string> formatted(const char* format, std::va_list arguments) {
  std::va_list copy;
  va_copy(copy, arguments);
  VariadicArguments list(copy, Argument::Kind::kNarrow);
  const auto text = text_of(widened(format).c_str(), list);
  va_end(copy);
  if (!text) return std::nullopt;
  return narrowed(*text);
}

}  // namespace meterbank::crt
