// SPDX-License-Identifier: Apache-2.0
//
// What is new in a picture, for a page that has the one before.
//
// A tail is a JSON object with the members of the picture that differ. Lists have other forms:
//
//   sections  one object each, with the members that differ. Of `lines` each is
//               0 where the same line stood,
//               the members that differ of a line that was there before, and `was`, which number
//               it had, if that was another one; a member that is null is gone, and 0 stands for
//               a cell that is as before,
//               or a whole line, which alone has a `key`.
//             `trends` has the new `values` of all lines, one after the other, and `kept`: of each
//             line, how many values to drop from the beginning of those it had, how many of the
//             next ones to keep, and how many new ones follow. Entries at its end that are alike
//             are written once.
//   plots     `kept`, the numbers to drop and to keep in all plots; the `times` that follow; and
//             `values`, of each curve of each plot the low ones, behind them with `bands` the high
//             ones
//   heat      `kept`, and what follows of `times` and `counts`; `rows`, how many rows below and
//             above those of before have come (or gone, if negative) and are zero in what is kept
//
// Values are packed (view/packed.hpp): all of one column in the same way.
#pragma once

#include <optional>
#include <string>

#include "page/feed/scene.hpp"

namespace meterbank::page {

// Nothing: the pictures are not of one place, or differ in more than a tail can say.
[[nodiscard]] std::optional<std::string> tail_json(const Shown& before, const Shown& now);

}  // namespace meterbank::page
