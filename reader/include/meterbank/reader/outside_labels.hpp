// SPDX-License-Identifier: Apache-2.0
//
// What the outside says of a provider's process. Nothing here is the provider's own word: the
// kernel knows the pid, and the control group says which container, pod and unit the process is in.
//
//   /kubepods.slice/kubepods-pod0f3c_....slice/cri-containerd-5b1e....scope
//                              ^ pod                          ^ container
//   /system.slice/orders.service
//                 ^ unit
//
// Of several candidates in a path the outermost one counts. Below it a service or a user may have
// been given a part of the tree to make groups in, under any names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank {

struct OutsideLabels {
  std::uint32_t pid = 0;  // as this process sees it; 0: not known, and so are the next four
  std::string cgroup;     // path of the control group
  std::string container;  // id: 64 hexadecimal digits
  std::string pod;        // uid, with dashes
  std::string unit;       // "orders.service"
  std::string host = {};  // machine, always there in a recording of several; else empty

  bool operator==(const OutsideLabels&) const = default;
};

// The labels that the text of a /proc/PID/cgroup gives; the pid is left out.
[[nodiscard]] OutsideLabels parse_cgroup(std::string_view text);

// Of a process of this pid, as procfs shows it now.
[[nodiscard]] OutsideLabels read_outside_labels(std::uint32_t pid);

// One condition on a provider: "pod=0f3c*". A label that is not known matches no pattern.
struct LabelPattern {
  std::string label;    // pid, uid, cgroup, container, pod, unit or host
  std::string pattern;  // a glob

  // Errors: kInvalidArgument.
  static Result<LabelPattern> parse(std::string_view text);
  [[nodiscard]] bool matches(const OutsideLabels& labels, std::uint32_t uid) const;
};
[[nodiscard]] bool match_all(const std::vector<LabelPattern>& patterns, const OutsideLabels& labels,
                             std::uint32_t uid);

}  // namespace meterbank
