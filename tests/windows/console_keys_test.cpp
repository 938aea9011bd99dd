// SPDX-License-Identifier: Apache-2.0
//
// <conio.h> on a pipe and on a terminal that stand in the place of standard input.
#include <conio.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace {

class ConsoleKeys : public testing::Test {
 protected:
  ConsoleKeys() : kept_(::dup(STDIN_FILENO)) {}
  ~ConsoleKeys() override {
    ::dup2(kept_, STDIN_FILENO);
    ::close(kept_);
    if (writer_ >= 0) ::close(writer_);
  }
  void read_from(int descriptor, int writer) {
    ::dup2(descriptor, STDIN_FILENO);
    ::close(descriptor);
    writer_ = writer;
  }
  void use_pipe() {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    read_from(ends[0], ends[1]);
  }
  void type(const std::string& text) {
    ASSERT_EQ(::write(writer_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end_input() {
    ::close(writer_);
    writer_ = -1;
  }

 private:
  const int kept_;
  int writer_ = -1;
};

TEST_F(ConsoleKeys, AreSeenAndTakenOneByOne) {
  use_pipe();
  EXPECT_EQ(_kbhit(), 0);
  type("aq");
  EXPECT_NE(_kbhit(), 0);
  EXPECT_EQ(_getch(), 'a');
  EXPECT_EQ(_getch(), 'q');
  EXPECT_EQ(_kbhit(), 0);
}

TEST_F(ConsoleKeys, NeverComeOnceInputHasEnded) {
  use_pipe();
  end_input();
  EXPECT_EQ(_kbhit(), 0);
  EXPECT_EQ(_getch(), -1);
  EXPECT_EQ(_getwch(), WEOF);
}

TEST_F(ConsoleKeys, AreWholeCharactersWhereTheyAreWide) {
  use_pipe();
  type("\xc3\xa4\xf0\x9f\x98\x80\xff");
  EXPECT_EQ(_getwch(), 0xe4U);
  EXPECT_EQ(_getwch(), 0x1f600U);
  EXPECT_EQ(_getwch(), WEOF);
}

TEST_F(ConsoleKeys, NeedNoEnterOnATerminal) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(master, 0);
  ASSERT_EQ(::grantpt(master), 0);
  ASSERT_EQ(::unlockpt(master), 0);
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY);
  ASSERT_GE(slave, 0);
  read_from(slave, master);
  EXPECT_EQ(_kbhit(), 0);
  type("x");
  while (_kbhit() == 0) std::this_thread::yield();  // the kernel hands it over in its own time
  EXPECT_EQ(_getch(), 'x');
}

}  // namespace
