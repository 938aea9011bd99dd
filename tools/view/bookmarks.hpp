// SPDX-License-Identifier: Apache-2.0
//
// Places that a person wants to come back to: a file of links, one a line, that an editor can
// change. Lines that begin with '#' and empty lines mean nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "view/place.hpp"

namespace meterbank::view {

inline constexpr std::size_t kBookmarksMax = 1'000;

// $XDG_CONFIG_HOME/meterbank/bookmarks, else that below ~/.config. Empty: this user has no home.
[[nodiscard]] std::string bookmarks_path();

struct Bookmarks {
  std::vector<Place> places;
  std::vector<Error> errors;  // lines that are no links: "bookmarks:3: ..."
};
// No file has no bookmarks. Errors: kDenied, kLimit, kSystem.
[[nodiscard]] Result<Bookmarks> read_bookmarks(const std::string& path);

// Appends one, and makes the file and its directory if they are missing. Errors: kDenied, kNoSpace,
// kLimit, kNotFound (no home), kSystem. What was in the file stays.
Result<void> add_bookmark(const std::string& path, const Place& place);

}  // namespace meterbank::view
