// SPDX-License-Identifier: Apache-2.0
#include "page/feed/view_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::page {
namespace {

constexpr std::string_view kPrefix = "window.";

tl::unexpected<Error> refuse(std::string_view part, std::string remedy) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}'", escape_for_terminal(part)),
              std::move(remedy));
}

Result<void> take_number(std::string_view part, std::string_view value, std::size_t most,
                         std::size_t& number) {
  const auto* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (value.empty() || parsed.ec != std::errc{} || parsed.ptr != end || number > most) {
    return refuse(part, fmt::format("a number up to {}", most));
  }
  return {};
}

// `part` is "window.first=100".
Result<void> take_part(std::string_view part, ViewRequest& request) {
  struct Number {
    std::string_view name;
    std::size_t view::Window::*member;
    std::size_t most;
  };
  constexpr std::array kNumbers{Number{"section", &view::Window::section, 64},
                                Number{"first", &view::Window::first, 100'000'000},
                                Number{"lines", &view::Window::lines, 1000},
                                Number{"other", &view::Window::other_lines, 1000},
                                Number{"columns", &view::Window::plot_columns, 4000},
                                Number{"counters", &view::Window::counters, 64}};
  const auto equals = std::min(part.find('='), part.size());
  const auto name = part.substr(kPrefix.size(), equals - std::min(equals, kPrefix.size()));
  const auto value = part.substr(std::min(equals + 1, part.size()));
  for (const Number& number : kNumbers) {
    if (name == number.name) {
      return take_number(part, value, number.most, request.window.*number.member);
    }
  }
  if (name == "plots" && value == "apart") return request.plots_apart = true, Result<void>{};
  if (name == "step" && value == "earlier") return request.step = Step::kEarlier, Result<void>{};
  if (name == "step" && value == "later") return request.step = Step::kLater, Result<void>{};
  return refuse(part, "a request of the page that this program serves");
}

}  // namespace

std::string ViewRequest::key() const {
  return fmt::format("{}\n{} {} {} {} {} {}", view::link_of(place), window.section, window.first,
                     window.lines, window.other_lines, window.plot_columns, window.counters);
}

Result<ViewRequest> parse_view_request(std::string_view query) {
  ViewRequest request;
  // The page scrolls; a terminal shows as much as it has lines.
  constexpr std::size_t kOtherLines = 25;
  request.window.other_lines = kOtherLines;
  std::string link;
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (!part.starts_with(kPrefix)) {
      link.append(link.empty() ? "" : "&").append(part);
      continue;
    }
    if (auto taken = take_part(part, request); !taken) return tl::make_unexpected(taken.error());
  }
  auto place = view::parse_link(link);
  if (!place) return tl::make_unexpected(place.error());
  request.place = std::move(*place);
  return request;
}

}  // namespace meterbank::page
