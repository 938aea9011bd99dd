// SPDX-License-Identifier: Apache-2.0
//
// Where the pictures of the page come from.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "view/picture.hpp"
#include "view/place.hpp"

namespace meterbank::page {

struct Shown {
  view::Picture picture;
  // Of the same place in a second recording, which begins so much later than the first.
  std::optional<view::Picture> over;
  std::int64_t later_ns = 0;
};

// Used by one thread at a time.
class Scene {
 public:
  virtual ~Scene() = default;
  [[nodiscard]] virtual bool is_live() const = 0;  // take() brings new moments
  virtual void take() = 0;
  [[nodiscard]] virtual Shown picture(const view::Place& place, const view::Window& window) = 0;
  // As of Board: for many pictures of one moment.
  virtual void note_plots() {}
  virtual void read_noted_plots(const std::stop_token& /*stop*/) {}
  [[nodiscard]] virtual std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> at_ns) = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> moment_after(std::uint64_t at_ns) = 0;
};

}  // namespace meterbank::page
