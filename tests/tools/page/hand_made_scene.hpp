// SPDX-License-Identifier: Apache-2.0
//
// Pictures that a test has made by hand: a set of one counter that counts moments.
#pragma once

#include <atomic>
#include <string>

#include "page/feed/scene.hpp"

namespace meterbank::page {

class HandMadeScene final : public Scene {
 public:
  explicit HandMadeScene(bool is_live = true) : is_live_(is_live) {}

  [[nodiscard]] bool is_live() const override { return is_live_; }
  void take() override { ++moments; }
  [[nodiscard]] Shown picture(const view::Place& place, const view::Window& /*window*/) override {
    ++pictures;
    view::Picture picture;
    picture.place = place;
    picture.is_live = is_live_;
    picture.is_unfinished = pictures < unfinished;
    picture.crumbs = {{"overview", {}}};
    picture.time_ns = time_of(moments);
    view::Section section;
    section.title = name;
    section.columns = {{"INSTANCE", "", false}, {"count", "", true}};
    view::Line line;
    line.key = "a";
    line.cells = {{name, {}}, {std::to_string(moments) + padding, {}}};
    section.lines = {line};
    section.total = section.all = 1;
    picture.sections = {section};
    view::Plot plot;
    plot.title = "count";
    view::Plot::Curve curve;
    curve.name = "count";
    for (std::uint64_t i = moments > 9 ? moments - 9 : 0; i <= moments; ++i) {
      plot.times_ns.push_back(time_of(i));
      curve.low.push_back(static_cast<double>(i));
      curve.high.push_back(static_cast<double>(i) + band);
    }
    plot.curves = {curve};
    picture.plots = {plot};
    return {picture, std::nullopt, 0};
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> at_ns) override {
    const auto now = at_ns.value_or(time_of(moments));
    return now <= time_of(0) ? std::nullopt : std::optional(now - 1'000'000'000);
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t at_ns) override {
    return at_ns + 1'000'000'000;
  }

  static std::uint64_t time_of(std::uint64_t moment) {
    return (1'700'000'000 + moment) * 1'000'000'000;
  }

  std::atomic<std::uint64_t> moments{0}, pictures{0};
  std::uint64_t unfinished = 0;  // pictures that others are to follow
  std::string name = "kitchen";
  std::string padding;  // makes pictures large
  double band = 0;      // between low and high

 private:
  bool is_live_;
};

}  // namespace meterbank::page
