// SPDX-License-Identifier: Apache-2.0
//
// All outputs or none: what is there after a failure is what was there before.
#include "generator/command/files.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "command_fixture.hpp"

namespace meterbank::generator::test {
namespace {

class Files : public CommandTest {
 protected:
  [[nodiscard]] static Result<void> written(const std::vector<FileText>& files) {
    std::ostringstream out;
    return write_files(files, out);
  }

  // The words of the generator for two outputs of which the second is `second`.
  [[nodiscard]] std::vector<std::string> call(const std::string& second) const {
    return {file("orders.toml"), "--man", file("a"), "--markdown", second};
  }
};

TEST_F(Files, AreWrittenWithoutAnythingBeside) {
  ASSERT_TRUE(written({{file("a"), "one"}, {file("b"), "two"}}));

  EXPECT_EQ(read("a") + read("b"), "onetwo");
  EXPECT_EQ(listing(), "a b orders.toml");
}

TEST_F(Files, AreReplacedWithoutAnythingBeside) {
  write("a", "older and longer");
  ASSERT_TRUE(written({{file("a"), "new"}}));

  EXPECT_EQ(read("a"), "new");
  EXPECT_EQ(listing(), "a orders.toml");
}

TEST_F(Files, AreLeftAloneIfTheySayTheSame) {
  write("a", "same");
  write("b", "same");
  const std::filesystem::file_time_type long_ago{};
  std::filesystem::last_write_time(file("a"), long_ago);
  std::filesystem::last_write_time(file("b"), long_ago);

  ASSERT_TRUE(written({{file("a"), "same"}, {file("b"), "same", true}}));

  EXPECT_EQ(std::filesystem::last_write_time(file("a")), long_ago);
  EXPECT_NE(std::filesystem::last_write_time(file("b")), long_ago);
}

TEST_F(Files, AreWrittenThroughALink) {
  write("a", "old");
  std::filesystem::create_symlink(file("a"), file("link"));

  ASSERT_TRUE(written({{file("link"), "new"}}));

  EXPECT_EQ(read("a"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(file("link")));
}

TEST_F(Files, TakeTheLongestNameThatThereIs) {
  const std::string name(255, 'n');

  EXPECT_TRUE(written({{file(name), "text"}}));
  EXPECT_EQ(read(name), "text");
}

TEST_F(Files, MayNotBeADirectoryOrInOneThatIsMissing) {
  std::filesystem::create_directory(file("d"));
  for (const auto& place : {file("d"), file("missing/a"), file("orders.toml/a"), file("")}) {
    const auto outcome = generate_with(call(place));
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find("cannot write " + place), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
    EXPECT_EQ(listing(), "d orders.toml");
  }
}

TEST_F(Files, MayNotBeInADirectoryThatOneMayNotWriteTo) {
  std::filesystem::create_directory(file("d"));
  ASSERT_EQ(::chmod(file("d").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(file("").c_str(), 0777), 0);

  const auto outcome =
      generate_in_child([] { return ::geteuid() != 0 || ::setuid(65534) == 0; }, call(file("d/b")));

  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("Permission denied"), std::string::npos) << outcome.err;
  EXPECT_EQ(listing(), "d orders.toml");
}

TEST_F(Files, AreNotThereIfADeviceIsFull) {
  const auto outcome = generate_with(call("/dev/full"));

  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("No space left"), std::string::npos) << outcome.err;
  EXPECT_EQ(listing(), "orders.toml");
}

TEST_F(Files, AreNotThereIfOneMayNotGrowSoLong) {
  // The second text is long enough and the first is not.
  write("t", std::string(5000, 't'));
  auto words = call(file("b"));
  words.insert(words.end(), {"--template", "markdown=" + file("t")});
  const auto outcome = generate_in_child(
      [] {
        const rlimit limit{4096, 4096};
        return ::setrlimit(RLIMIT_FSIZE, &limit) == 0 && ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR;
      },
      words);

  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("cannot write " + file("b")), std::string::npos) << outcome.err;
  EXPECT_EQ(listing(), "orders.toml t");
}

TEST_F(Files, AreNotThereIfTheFileSystemIsFull) {
  std::filesystem::create_directory(file("d"));
  write("t", std::string(50000, 't'));
  auto words = call(file("d/b"));
  words.insert(words.end(), {"--template", "markdown=" + file("t")});
  const auto outcome = generate_in_child(
      [this] {
        if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
          return false;
        return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               ::mount("none", file("d").c_str(), "tmpfs", 0, "size=8k,mode=0755") == 0;
      },
      words);
  if (outcome.code == -1) GTEST_SKIP() << "no file systems may be mounted here";

  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("No space left"), std::string::npos) << outcome.err;
  EXPECT_EQ(listing(), "d orders.toml t");
}

// Both texts are complete, and the second cannot take its place: a file that is a mount point is
// busy. The first has taken its own by then, and has to give it back.
TEST_F(Files, AreAsTheyWereIfTheLastOfThemCannotBeReplaced) {
  write("b", "in the way");
  for (const bool first_exists : {false, true}) {
    if (first_exists) write("a", "before");
    const auto before = listing();
    const auto outcome = generate_in_child(
        [this] {
          if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
            return false;
          }
          return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                 ::mount(file("b").c_str(), file("b").c_str(), nullptr, MS_BIND, nullptr) == 0;
        },
        call(file("b")));
    if (outcome.code == -1) GTEST_SKIP() << "no file systems may be mounted here";

    EXPECT_EQ(outcome.code, 3);
    EXPECT_NE(outcome.err.find("cannot write " + file("b")), std::string::npos) << outcome.err;
    EXPECT_EQ(listing(), before);
    EXPECT_EQ(read("a"), first_exists ? "before" : "nothing");
    EXPECT_EQ(read("b"), "in the way");
  }
}

}  // namespace
}  // namespace meterbank::generator::test
