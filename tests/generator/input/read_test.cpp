// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "generator/input/load.hpp"

namespace meterbank::test {
namespace {

using generator::kManifestBytesMax;
using generator::read_manifest;

class ReadManifest : public testing::Test {
 protected:
  ReadManifest() : folder_(testing::TempDir() + "/read_manifest-" + std::to_string(::getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~ReadManifest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& bytes) const {
    std::ofstream(folder_ + "/m", std::ios::binary) << bytes;
    return folder_ + "/m";
  }

  std::string folder_;
};

TEST_F(ReadManifest, GivesTheBytesAsTheyAre) {
  const std::string bytes("\xEF\xBB\xBF<a>\r\n\0\xFF", 10);
  EXPECT_EQ(read_manifest(file(bytes)).value(), bytes);
  EXPECT_EQ(read_manifest(file("")).value(), "");
}

TEST_F(ReadManifest, TakesWhatJustFitsAndNotOneByteMore) {
  EXPECT_EQ(read_manifest(file(std::string(kManifestBytesMax, 'x')))->size(), kManifestBytesMax);
  const auto longer = read_manifest(file(std::string(kManifestBytesMax + 1, 'x')));
  ASSERT_FALSE(longer.has_value());
  EXPECT_EQ(longer.error().code, ErrorCode::kLimit);
  EXPECT_NE(longer.error().what.find("more than 4194304 bytes"), std::string::npos);
}

TEST_F(ReadManifest, ReadsNoMoreOfAHugeOneThanItTakes) {
  const std::string path = file("x");
  std::filesystem::resize_file(path, std::uintmax_t{100} << 30);
  EXPECT_EQ(read_manifest(path).error().code, ErrorCode::kLimit);
  EXPECT_EQ(read_manifest("/dev/zero").error().code, ErrorCode::kLimit);
}

TEST_F(ReadManifest, ReadsAPipeToItsEnd) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "[provider]", 10), 10);
  ::close(ends[1]);
  EXPECT_EQ(read_manifest("/dev/fd/" + std::to_string(ends[0])).value(), "[provider]");
  ::close(ends[0]);
}

TEST_F(ReadManifest, SaysWhatTheSystemSays) {
  const auto missing = read_manifest(folder_ + "/none");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().system_error, ENOENT);
  EXPECT_NE(missing.error().what.find(folder_ + "/none"), std::string::npos);
  EXPECT_EQ(read_manifest(folder_).error().system_error, EISDIR);
  EXPECT_EQ(read_manifest(file("x") + "/y").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace meterbank::test
