// SPDX-License-Identifier: Apache-2.0
//
// A directory that every user may publish in, providers in processes of their own, and what a
// catalog says of them.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../../support/bare_provider.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::test {

constexpr uid_t kStranger = 65534;

class SharedDirectoryTest : public testing::Test {
 protected:
  SharedDirectoryTest() { EXPECT_EQ(::chmod(directory_.path().c_str(), 01777), 0); }
  ~SharedDirectoryTest() override {
    while (!children_.empty()) end(children_.back());
  }
  SharedDirectoryTest(const SharedDirectoryTest&) = delete;
  SharedDirectoryTest& operator=(const SharedDirectoryTest&) = delete;

  // Does `act` in a child, which then lives until end() or the end of the test.
  pid_t start_child(const std::function<void()>& act, uid_t uid = ::geteuid()) {
    int ready[2] = {};
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (uid != ::geteuid() && ::setresuid(uid, uid, uid) != 0) ::_exit(1);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::prctl(PR_SET_DUMPABLE, 1);
      act();
      static_cast<void>(!::write(ready[1], "r", 1));
      for (;;) ::pause();
    }
    ::close(ready[1]);  // so that a child which dies early is an end of file
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    children_.push_back(child);
    return child;
  }
  void end(pid_t child) {
    std::erase(children_, child);
    ::kill(child, SIGKILL);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  }
  // A process with `count` providers NAME0, NAME1...
  pid_t start_providers(const std::string& name, int count, uid_t uid = ::geteuid()) {
    return start_child(
        [&] {
          rlimit files{};
          ::getrlimit(RLIMIT_NOFILE, &files);
          files.rlim_cur = files.rlim_max;
          ::setrlimit(RLIMIT_NOFILE, &files);
          static std::vector<BareProvider> providers;
          for (int i = 0; i < count; ++i) {
            providers.emplace_back(name + std::to_string(i));
            if (!write_record(directory_.path(), providers.back().record())) ::_exit(1);
          }
        },
        uid);
  }
  void write_file(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() + "/" + name) << text;
  }
  [[nodiscard]] Catalog open(CatalogOptions options = {}) const {
    options.directory = directory_.path();
    return *Catalog::open(options);
  }

  TemporaryDirectory directory_{"/dev/shm"};  // some tests make very many files

 private:
  std::vector<pid_t> children_;
};

// How many providers are in which state.
inline std::map<std::string, int> states_of(const Catalog& catalog) {
  std::map<std::string, int> states;
  for (const auto& provider : catalog.providers()) ++states[std::string(name_of(provider->state))];
  return states;
}

// "live", or "absent".
inline std::string state_of(const Catalog& catalog, const std::string& name) {
  for (const auto& provider : catalog.providers()) {
    if (provider->name == name) return std::string(name_of(provider->state));
  }
  return "absent";
}

}  // namespace meterbank::test
