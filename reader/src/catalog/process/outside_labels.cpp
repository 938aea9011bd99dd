// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/outside_labels.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/suggest.hpp"

namespace meterbank {
namespace {

constexpr std::size_t kContainerDigits = 64;
constexpr std::size_t kPodDigitsMin = 32;  // of a static pod: a hash without dashes
constexpr std::size_t kPodDigitsMax = 36;

constexpr const char* kLabels[] = {"pid", "uid", "cgroup", "container", "pod", "unit", "host"};

bool is_hexadecimal(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// The path in the hierarchy of systemd: the only one of version 2, a named one of version 1. Where
// there are both, version 2 may be mounted and not used: all processes are at its root.
std::string_view path_in(std::string_view text) noexcept {
  std::string_view named, only;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("0::/")) only = line.substr(3);
    const auto at = line.find(":name=systemd:/");
    if (at != std::string_view::npos)
      named = line.substr(at + std::string_view(":name=systemd:").size());
  }
  return only.size() > 1 || named.empty() ? only : named;
}

// "cri-containerd-5b1e....scope", "libpod-5b1e....scope", "5b1e..."
std::string_view container_in(std::string_view part) noexcept {
  if (part.ends_with(".scope")) part.remove_suffix(std::string_view(".scope").size());
  const auto dash = part.rfind('-');
  if (dash != std::string_view::npos) part.remove_prefix(dash + 1);
  const bool is_id =
      part.size() == kContainerDigits && std::all_of(part.begin(), part.end(), is_hexadecimal);
  return is_id ? part : std::string_view();
}

// "kubepods-burstable-pod0f3c_....slice", "pod0f3c-..."
std::string pod_in(std::string_view part) {
  if (part.ends_with(".slice")) part.remove_suffix(std::string_view(".slice").size());
  const auto at = part.starts_with("kubepods-") ? part.find("-pod") : std::string_view::npos;
  if (at != std::string_view::npos) {
    part.remove_prefix(at + 1);
  }
  if (!part.starts_with("pod")) return {};
  std::string uid(part.substr(3));
  std::replace(uid.begin(), uid.end(), '_', '-');
  const bool is_uid =
      uid.size() >= kPodDigitsMin && uid.size() <= kPodDigitsMax &&
      std::all_of(uid.begin(), uid.end(), [](char c) { return is_hexadecimal(c) || c == '-'; });
  return is_uid ? uid : std::string();
}

}  // namespace

OutsideLabels parse_cgroup(std::string_view text) {
  OutsideLabels labels;
  std::string_view path = path_in(text);
  labels.cgroup = path;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    if (labels.container.empty()) labels.container = container_in(part);
    if (labels.pod.empty() && labels.container.empty()) labels.pod = pod_in(part);
    const bool is_unit = part.ends_with(".service") || part.ends_with(".scope");
    if (labels.unit.empty() && is_unit) labels.unit = part;
  }
  return labels;
}

OutsideLabels read_outside_labels(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/cgroup";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16 * 1024> buffer;
  const auto count = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
  OutsideLabels labels;
  if (count > 0) labels = parse_cgroup({buffer.data(), static_cast<std::size_t>(count)});
  labels.pid = pid;
  return labels;
}

Result<LabelPattern> LabelPattern::parse(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) {
    return fail(ErrorCode::kInvalidArgument, "'" + std::string(text) + "' is not LABEL=PATTERN",
                "unit=orders.service");
  }
  const std::string label(text.substr(0, equals));
  const std::vector<std::string> known(std::begin(kLabels), std::end(kLabels));
  if (std::find(known.begin(), known.end(), label) == known.end()) {
    return fail(
        ErrorCode::kInvalidArgument, "no label '" + label + "'",
        best_match(label, known).value_or("pid, uid, cgroup, container, pod, unit or host"));
  }
  return LabelPattern{label, std::string(text.substr(equals + 1))};
}

bool LabelPattern::matches(const OutsideLabels& labels, std::uint32_t uid) const {
  std::string value;
  if (label == "uid") value = std::to_string(uid);
  if (label == "pid" && labels.pid != 0) value = std::to_string(labels.pid);
  if (label == "cgroup") value = labels.cgroup;
  if (label == "container") value = labels.container;
  if (label == "pod") value = labels.pod;
  if (label == "unit") value = labels.unit;
  if (label == "host") value = labels.host;
  return !value.empty() && glob_matches(pattern, value);
}

bool match_all(const std::vector<LabelPattern>& patterns, const OutsideLabels& labels,
               std::uint32_t uid) {
  return std::all_of(patterns.begin(), patterns.end(),
                     [&](const LabelPattern& pattern) { return pattern.matches(labels, uid); });
}

}  // namespace meterbank
