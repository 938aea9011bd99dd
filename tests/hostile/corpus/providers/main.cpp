// SPDX-License-Identifier: Apache-2.0
//
// hostile_provider NAME: one attack on METERBANK_DIR, until it is killed. Without a name: a list.
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "attack.hpp"
#include "meterbank/shm/pointer_record.hpp"

namespace meterbank::hostile {
namespace {

constexpr unsigned kStranger = 65534;

int run(std::string_view name) {
  for (const Attack& attack : all_attacks()) {
    if (attack.name != name) continue;
    // It takes turns with readers on the same processors: they go first, so that a run is short.
    if (::setpriority(PRIO_PROCESS, 0, 5) != 0) return 1;
    if (attack.place != Place::kOwnDirectory) {
      const bool became = ::setgroups(0, nullptr) == 0 && ::setgid(kStranger) == 0 &&
                          ::setuid(kStranger) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0;
      if (!became) {
        std::fputs("cannot become another user\n", stderr);
        return 1;
      }
    }
    attack.run(Stage(provider_directories().front()));
    std::fputs("the attack ended\n", stderr);
    return 1;
  }
  std::fprintf(stderr, "there is no attack called so\n");
  return 2;
}

int list() {
  for (const Attack& attack : all_attacks()) {
    std::printf("%-34s %s\n", std::string(attack.name).c_str(), std::string(attack.what).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace meterbank::hostile

int main(int argc, char* argv[]) {
  try {
    return argc < 2 ? meterbank::hostile::list() : meterbank::hostile::run(argv[1]);
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "the attack failed: %s\n", failed.what());
    return 1;
  }
}
