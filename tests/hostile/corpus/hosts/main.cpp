// SPDX-License-Identifier: Apache-2.0
//
// hostile_host NAME: one host program. Without a name: a list.
#include <cstdio>
#include <string>

#include "host.hpp"

int main(int argc, char* argv[]) {
  for (const meterbank::hostile::Host& host : meterbank::hostile::all_hosts()) {
    if (argc < 2) {
      std::printf("%-34s %s\n", std::string(host.name).c_str(), std::string(host.what).c_str());
    } else if (host.name == argv[1]) {
      return host.run();
    }
  }
  return argc < 2 ? 0 : 2;
}
