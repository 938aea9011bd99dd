// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/fork_watch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace meterbank {
namespace {

// Writes down what it is told, in a text that several share.
class Diary final : public ForkWatcher {
 public:
  Diary(std::string& text, char name) : text_(text), name_(name) { watch_forks(*this); }
  ~Diary() { unwatch_forks(*this); }

  bool lock_for_fork() noexcept override {
    write('l');
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    signals_wait = ::sigismember(&blocked, SIGUSR1) == 1;
    return is_own;
  }
  void unlock_after_fork() noexcept override { write('u'); }
  void leave_to_parent() noexcept override { write('c'); }

  bool is_own = true;
  bool signals_wait = false;

 private:
  void write(char what) { (text_ += what) += name_; }

  std::string& text_;
  const char name_;
};

// What the child of a fork finds in the text.
bool is_told_in_child(const std::string& text, const std::string& expected) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(text == expected ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkWatch, LocksTheLastOneFirstAndUnlocksThemInParentAndChild) {
  std::string text;
  const Diary list(text, '1'), object(text, '2');
  EXPECT_TRUE(is_told_in_child(text, "l2l1c1c2u1u2"));
  EXPECT_EQ(text, "l2l1u1u2");
}

TEST(ForkWatch, DoesNotUnlockWhatWasNotLocked) {
  std::string text;
  Diary inherited(text, '1');
  inherited.is_own = false;
  EXPECT_TRUE(is_told_in_child(text, "l1c1"));
  EXPECT_EQ(text, "l1");
}

TEST(ForkWatch, TellsNothingToWhatIsWatchedNoLonger) {
  std::string text;
  { const Diary gone(text, '1'); }
  const Diary object(text, '2');
  EXPECT_TRUE(is_told_in_child(text, "l2c2u2"));
  EXPECT_EQ(text, "l2u2");
}

TEST(ForkWatch, LetsSignalsWaitUntilAllIsUnlocked) {
  std::string text;
  const Diary object(text, '1');
  ASSERT_TRUE(is_told_in_child(text, "l1c1u1"));
  EXPECT_TRUE(object.signals_wait);
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(::sigismember(&blocked, SIGUSR1), 0);
}

}  // namespace
}  // namespace meterbank
