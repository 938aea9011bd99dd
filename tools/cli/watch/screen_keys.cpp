// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/screen_keys.hpp"

#include <array>

namespace meterbank::cli {
namespace {

struct Letter {
  std::string_view text;
  view::Message message;
};
constexpr std::array kLetters{
    Letter{"k", view::Message::kUp},        Letter{"j", view::Message::kDown},
    Letter{"g", view::Message::kFirst},     Letter{"G", view::Message::kLast},
    Letter{"o", view::Message::kOverview},  Letter{"/", view::Message::kSearch},
    Letter{"s", view::Message::kSort},      Letter{"S", view::Message::kReverse},
    Letter{"b", view::Message::kGroup},     Letter{"p", view::Message::kPin},
    Letter{"d", view::Message::kHideZeros}, Letter{"r", view::Message::kStored},
    Letter{"e", view::Message::kUnits},     Letter{"l", view::Message::kLogarithmic},
    Letter{"+", view::Message::kWider},     Letter{"=", view::Message::kWider},
    Letter{"-", view::Message::kNarrower},  Letter{" ", view::Message::kFreeze},
    Letter{"[", view::Message::kEarlier},   Letter{"]", view::Message::kLater},
    Letter{"n", view::Message::kNow},       Letter{"t", view::Message::kGoTo},
    Letter{"m", view::Message::kMark},      Letter{"M", view::Message::kNextMark},
    Letter{"B", view::Message::kBookmark},  Letter{"'", view::Message::kNextBookmark},
    Letter{"w", view::Message::kSave},      Letter{"v", view::Message::kDetails},
    Letter{"?", view::Message::kHelp},      Letter{"h", view::Message::kHelp},
    Letter{"q", view::Message::kQuit}};

struct SpecialKey {
  Key key;
  view::Message message;
};
constexpr std::array kSpecialKeys{SpecialKey{Key::kUp, view::Message::kUp},
                                  SpecialKey{Key::kDown, view::Message::kDown},
                                  SpecialKey{Key::kLeft, view::Message::kLeft},
                                  SpecialKey{Key::kRight, view::Message::kRight},
                                  SpecialKey{Key::kPageUp, view::Message::kPageUp},
                                  SpecialKey{Key::kPageDown, view::Message::kPageDown},
                                  SpecialKey{Key::kHome, view::Message::kFirst},
                                  SpecialKey{Key::kEnd, view::Message::kLast},
                                  SpecialKey{Key::kTab, view::Message::kNextSection},
                                  SpecialKey{Key::kEnter, view::Message::kOpen},
                                  SpecialKey{Key::kEscape, view::Message::kBack},
                                  SpecialKey{Key::kBackspace, view::Message::kBack},
                                  SpecialKey{Key::kHelp, view::Message::kHelp}};

void handle_typing(const KeyPress& press, view::Navigator& navigator) {
  switch (press.key) {
    case Key::kCharacter:
      return navigator.type(press.text);
    case Key::kBackspace:
      return navigator.take_back();
    case Key::kEnter:
      return navigator.accept();
    case Key::kEscape:
      return navigator.cancel();
    default:
      return;
  }
}

view::Request point_at(const KeyPress& press, bool is_second, const Drawing& drawing,
                       view::Navigator& navigator) {
  const auto* const target = drawing.target_at(press.x, press.y);
  if (target == nullptr) return view::Request::kNone;
  switch (target->kind) {
    case Target::Kind::kLine:
      return navigator.point(target->section, target->index, is_second);
    case Target::Kind::kHeading:
      navigator.point_column(target->section, target->index);
      return view::Request::kNone;
    case Target::Kind::kTime: {
      const auto time = target->times_ns[press.x - target->rect.x];
      if (time != 0) navigator.point_time(time);
      return view::Request::kNone;
    }
    case Target::Kind::kOverview:
      return navigator.handle(view::Message::kOverview);
    case Target::Kind::kBack:
      return navigator.handle(view::Message::kBack);
  }
  return view::Request::kNone;
}

view::Request turn_wheel(view::Message message, view::Navigator& navigator) {
  constexpr int kLinesATurn = 3;
  for (int i = 0; i < kLinesATurn; ++i) static_cast<void>(navigator.handle(message));
  return view::Request::kNone;
}

}  // namespace

std::optional<view::Message> message_of(const KeyPress& press) {
  if (press.key == Key::kCharacter) {
    for (const auto& letter : kLetters) {
      if (letter.text == press.text) return letter.message;
    }
    return std::nullopt;
  }
  for (const auto& special : kSpecialKeys) {
    if (special.key == press.key) return special.message;
  }
  return std::nullopt;
}

view::Request handle_press(const KeyPress& press, bool is_second_click, const Drawing& drawing,
                           view::Navigator& navigator) {
  if (press.key == Key::kUnknown) return view::Request::kNone;
  const auto message = message_of(press);
  // Any key closes the help, but where it goes on, its own key shows more.
  if (navigator.shows_help()) {
    if (message != view::Message::kHelp || drawing.help_next == 0) {
      return navigator.handle(message.value_or(view::Message::kHelp));
    }
    navigator.show_help_from(drawing.help_next);
    return view::Request::kNone;
  }
  if (press.key == Key::kClick) return point_at(press, is_second_click, drawing, navigator);
  if (navigator.typing() != view::Navigator::Typing::kNothing) {
    handle_typing(press, navigator);
    return view::Request::kNone;
  }
  if (press.key == Key::kWheelUp) return turn_wheel(view::Message::kUp, navigator);
  if (press.key == Key::kWheelDown) return turn_wheel(view::Message::kDown, navigator);
  return message ? navigator.handle(*message) : view::Request::kNone;
}

}  // namespace meterbank::cli
