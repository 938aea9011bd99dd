// SPDX-License-Identifier: Apache-2.0
#include "view/bookmarks.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../../support/temporary_directory.hpp"

namespace meterbank::view {
namespace {

class BookmarksTest : public ::testing::Test {
 protected:
  void write(const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    std::ofstream(path_) << text;
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  [[nodiscard]] static Place set_of(const std::string& set) {
    Place place;
    place.screen = Screen::kSet;
    place.set = set;
    return place;
  }

  const test::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/config/meterbank/bookmarks";
};

TEST_F(BookmarksTest, ComeBackInTheOrderTheyWereAdded) {
  EXPECT_TRUE(read_bookmarks(path_)->places.empty());
  ASSERT_TRUE(add_bookmark(path_, set_of("b")));
  ASSERT_TRUE(add_bookmark(path_, set_of("a c")));

  const auto read = read_bookmarks(path_);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->places, (std::vector<Place>{set_of("b"), set_of("a c")}));
  EXPECT_TRUE(read->errors.empty());
}

TEST_F(BookmarksTest, LinesThatAreNoLinksAreNamedAndStay) {
  write("# mine\r\n\nscreen=attic\nscreen=set&set=b");
  ASSERT_TRUE(add_bookmark(path_, set_of("c")));

  const auto read = read_bookmarks(path_);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->places, (std::vector<Place>{set_of("b"), set_of("c")}));
  ASSERT_EQ(read->errors.size(), 1U);
  EXPECT_NE(read->errors[0].what.find("bookmarks:3: screen=attic"), std::string::npos);
  EXPECT_EQ(text(), "# mine\r\n\nscreen=attic\nscreen=set&set=b\nscreen=set&set=c\n");
}

TEST_F(BookmarksTest, WithoutAHomeThereIsNoPlaceForThem) {
  const auto added = add_bookmark("", set_of("a"));
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message().find("HOME"), std::string::npos);
}

TEST_F(BookmarksTest, AFileThatCannotBeWrittenIsNamed) {
  write("screen=overview\n");
  std::filesystem::create_directory(directory_.path() + "/folder");

  const auto added = add_bookmark(directory_.path() + "/folder", set_of("a"));

  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message().find("/folder"), std::string::npos);
}

TEST_F(BookmarksTest, ALineThatFoundNoRoomLeavesTheFileAsItWas) {
  write("screen=overview\n");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);

  const auto added = add_bookmark(path_, set_of("abcdefghij"));

  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  EXPECT_FALSE(added);
  EXPECT_EQ(text(), "screen=overview\n");
}

TEST_F(BookmarksTest, ThereIsAMost) {
  std::string lines;
  for (std::size_t i = 0; i < kBookmarksMax; ++i) lines += "screen=overview\n";
  write(lines);

  const auto added = add_bookmark(path_, set_of("a"));

  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace meterbank::view
