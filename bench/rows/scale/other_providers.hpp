// SPDX-License-Identifier: Apache-2.0
//
// Providers in processes of their own, on the second processor where there is one.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace meterbank::bench {

// They end when this object does. Ends the program if one of them cannot start.
class OtherProviders {
 public:
  OtherProviders(const std::string& directory, std::size_t providers, std::size_t instances_each);
  OtherProviders(const OtherProviders&) = delete;
  OtherProviders& operator=(const OtherProviders&) = delete;
  ~OtherProviders();

  // In the first provider. Returns when the instance is there.
  void create_instance() const;

 private:
  [[noreturn]] void run_provider(std::size_t number) const;
  void await_answer() const;
  void end_all() const;

  std::string directory_;
  std::size_t instances_each_;
  std::array<int, 2> requests_{};  // pipe to the first provider
  std::array<int, 2> answers_{};   // pipe from all of them: 'y' or 'n' each
  std::vector<pid_t> processes_;   // one process group
};

}  // namespace meterbank::bench
