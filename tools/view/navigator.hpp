// SPDX-License-Identifier: Apache-2.0
//
// The state of a screen: messages in, a place and a window out. It knows neither keys nor cells,
// and no clock; a test drives it without a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "view/picture.hpp"
#include "view/place.hpp"

namespace meterbank::view {

enum class Message : std::uint8_t {
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kFirst,
  kLast,
  kNextSection,
  kLeft,  // the counter before: another column, another trend
  kRight,
  kOpen,
  kBack,
  kOverview,
  kSearch,  // what is typed from now on is the filter
  kSort,    // by the next column, in the end as listed
  kReverse,
  kGroup,
  kPin,
  kHideZeros,
  kStored,
  kUnits,
  kLogarithmic,
  kWider,  // a longer span of time
  kNarrower,
  kFreeze,  // the picture stands still, one cut, until it is pressed again
  kEarlier,
  kLater,
  kNow,
  kGoTo,  // what is typed from now on is a time
  kMark,  // remembers this moment, or forgets it
  kNextMark,
  kBookmark,  // asks for the place to be kept
  kNextBookmark,
  kSave,  // asks for what is known to be saved as a recording
  kDetails,
  kHelp,
  kQuit,
};

// What the program has to do after a message.
enum class Request : std::uint8_t {
  kNone,
  kEarlier,  // show_moment() with Board::moment_before()
  kLater,
  kBookmark,
  kNextBookmark,  // open() with it
  kSave,
  kQuit
};

class Navigator {
 public:
  explicit Navigator(Place place);

  [[nodiscard]] Request handle(Message message);
  // While something is typed: a character, UTF-8; or one is taken back.
  void type(std::string_view character);
  void take_back();
  // Ends what is typed: with it, or without.
  void accept();
  void cancel();
  // A line of a section was pointed at; twice means kOpen.
  [[nodiscard]] Request point(std::size_t section, std::size_t line, bool twice);
  void point_column(std::size_t section, std::size_t column);  // sorts by it
  void point_time(std::uint64_t realtime_ns);                  // of a plot or a heat map

  // The answer to kEarlier and kLater. Nothing: there is no such moment.
  void show_moment(std::optional<std::uint64_t> realtime_ns);
  // Goes there, and kBack comes back.
  void open(const Place& place);
  // What came of a request, until the next message.
  void complain(std::string_view words);

  // What was drawn last; messages are about it. `lines` is the room of the chosen section.
  void drawn(const Picture& picture, std::size_t lines);

  enum class Typing : std::uint8_t { kNothing, kFilter, kTime };
  [[nodiscard]] Typing typing() const noexcept { return typing_; }
  [[nodiscard]] const std::string& typed() const noexcept { return typed_; }
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }
  [[nodiscard]] bool shows_help() const noexcept { return shows_help_; }
  // Which of its parts a small screen shows: from this number on.
  [[nodiscard]] std::size_t help_first() const noexcept { return help_first_; }
  void show_help_from(std::size_t first) noexcept { help_first_ = first; }
  [[nodiscard]] bool shows_details() const noexcept { return shows_details_; }
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] const Window& window() const noexcept { return window_; }
  [[nodiscard]] std::size_t section() const noexcept { return window_.section; }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }  // of the section
  [[nodiscard]] const std::vector<std::uint64_t>& marks() const noexcept { return marks_; }

 private:
  struct Step {
    Place place;
    Window window;
    std::size_t line;
  };

  bool moves(Message message);
  bool changes_time(Message message);
  void switches(Message message);
  void move(std::ptrdiff_t lines);
  void enter_section(std::size_t section, std::size_t line);
  void keep_in_window();
  void go_to_top();
  void choose_plotted();
  void hold_row();
  void find_row(const Section& section, const std::string& plotted);
  [[nodiscard]] const Line* chosen_line() const;
  Request open_chosen();
  void go_back();
  void choose_counter(bool next);
  void sort_by_next();
  void pin();
  void mark();
  void go_to_next_mark();
  void freeze();
  void change_span(bool longer);
  void go_to(std::uint64_t time_ns);
  [[nodiscard]] std::string_view not_here(Message message) const;
  void filter_by_typed();

  Place place_;
  Window window_;
  std::size_t line_ = 0;
  std::string chosen_key_;          // the cursor stays on the line with this key; empty: on line_
  bool plots_chosen_line_ = false;  // place_.counter becomes the key of line_
  std::string typed_;
  std::string complaint_;
  std::vector<std::uint64_t> marks_;
  std::vector<Step> before_;
  Picture last_;
  Typing typing_ = Typing::kNothing;
  bool shows_help_ = false;
  std::size_t help_first_ = 0;
  bool shows_details_ = true;
};

}  // namespace meterbank::view
