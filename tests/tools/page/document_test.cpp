// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <thread>

#include "hand_made_scene.hpp"
#include "page/asset.hpp"
#include "page/export/exported_page.hpp"
#include "view/packed.hpp"

namespace meterbank::page {
namespace {

std::size_t gzip_bytes(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  ::deflateEnd(&stream);
  return stream.total_out;
}

TEST(Document, WeighsNoMoreThanItMay) {
  const Asset& asset = page_asset();
  const std::string page = asset.before + asset.after;
  const std::size_t small = gzip_bytes(page);
  RecordProperty("raw_bytes", static_cast<int>(page.size()));
  RecordProperty("gzip_bytes", static_cast<int>(small));
  EXPECT_LE(page.size(), 120U << 10);
  EXPECT_LE(small, 40U << 10);
}

TEST(Document, NamesNoOtherOrigin) {
  const Asset& asset = page_asset();
  const std::string page = asset.before + asset.after;
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_EQ(page.find("eval("), std::string::npos);
  EXPECT_EQ(page.find("innerHTML"), std::string::npos);
  EXPECT_EQ(page.find(" onclick="), std::string::npos);
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(view::base64_of(""), "");
  EXPECT_EQ(view::base64_of("f"), "Zg==");
  EXPECT_EQ(view::base64_of("fo"), "Zm8=");
  EXPECT_EQ(view::base64_of("foo"), "Zm9v");
  EXPECT_EQ(view::base64_of("\xff\xfe\xfd\xfc"), "//79/A==");
}

TEST(ExportedPage, HoldsItsDataBetweenThePartsOfTheDocument) {
  HandMadeScene scene(false);
  const auto page = exported_page(scene);
  EXPECT_TRUE(page.problems.empty());
  EXPECT_EQ(page.html.find(page_asset().before), 0U);
  EXPECT_NE(page.html.find("<script id=\"data\""), std::string::npos);
}

// Each picture opens two more, without end.
class EndlessScene final : public Scene {
 public:
  [[nodiscard]] bool is_live() const override { return false; }
  void take() override {}
  [[nodiscard]] Shown picture(const view::Place& place, const view::Window& window) override {
    Shown shown = inner_.picture(place, window);
    auto& line = shown.picture.sections[0].lines[0];
    line.opens = place;
    line.opens->set = place.set + "x";
    return shown;
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> /*at_ns*/) override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t /*at_ns*/) override {
    return std::nullopt;
  }

 private:
  HandMadeScene inner_{false};
};

TEST(ExportedPage, EndsAtItsLimitAndSaysSo) {
  EndlessScene scene;
  const auto page = exported_page(scene, {.pictures = 7});
  ASSERT_EQ(page.problems.size(), 1U);
  EXPECT_NE(page.problems[0].find("has 7 views and leaves out 1"), std::string::npos);
}

// Remembers what it was asked for, in its order.
class NotingScene final : public Scene {
 public:
  [[nodiscard]] bool is_live() const override { return false; }
  void take() override {}
  [[nodiscard]] Shown picture(const view::Place& place, const view::Window& window) override {
    asked += "picture ";
    return inner_.picture(place, window);
  }
  void note_plots() override { asked += "note "; }
  void read_noted_plots(const std::stop_token& /*stop*/) override { asked += "read "; }
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> /*at_ns*/) override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t /*at_ns*/) override {
    return std::nullopt;
  }

  std::string asked;

 private:
  HandMadeScene inner_{false};
};

TEST(ExportedPage, NotesAllPlotsBeforeARecordingIsReadForThem) {
  NotingScene scene;
  static_cast<void>(exported_page(scene));
  EXPECT_EQ(scene.asked, "note picture read picture ");
}

TEST(ExportedPage, TakesNoFurtherPictureWhenItIsStopped) {
  EndlessScene scene;
  std::jthread stopped([](const std::stop_token&) {});
  stopped.request_stop();
  EXPECT_EQ(exported_page(scene, {}, stopped.get_stop_token()).html, "");
}

}  // namespace
}  // namespace meterbank::page
