// SPDX-License-Identifier: Apache-2.0
//
// Scenes in processes of their own, some at a time.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <list>
#include <nlohmann/json.hpp>
#include <thread>

#include "scene.hpp"

namespace meterbank::hostile {
namespace {

std::string to_text(const SceneResult& result) {
  const nlohmann::json json{result.name,      result.skipped,       result.findings,
                            result.only_late, result.verbs,         result.slowest_seconds,
                            result.slowest,   result.peak_mebibytes};
  // Findings quote what readers printed, which may be anything.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

SceneResult from_text(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  SceneResult result;
  if (!json.is_array() || json.size() != 8) {
    result.findings.emplace_back("the scene itself did not end in order");
    return result;
  }
  result.name = json[0];
  result.skipped = json[1];
  result.findings = json[2];
  result.only_late = json[3];
  result.verbs = json[4];
  result.slowest_seconds = json[5];
  result.slowest = json[6];
  result.peak_mebibytes = json[7];
  return result;
}

struct Running {
  std::size_t index;
  pid_t pid;
  int from;
  std::string text;
};

Running begin(std::size_t index, const std::function<SceneResult(std::size_t)>& one) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return {index, -1, -1, {}};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    // Not for what the scene starts: an attacker that outlived it would keep the pipe open.
    const int to = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 100);
    ::close(ends[1]);
    const std::string text = to_text(one(index));
    static_cast<void>(!::write(to, text.data(), text.size()));
    ::_exit(0);
  }
  ::close(ends[1]);
  return {index, child, ends[0], {}};
}

// False: the scene has ended.
bool read_more(Running& scene) {
  std::array<char, 4096> bytes;
  const auto count = ::read(scene.from, bytes.data(), bytes.size());
  if (count > 0) scene.text.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

std::vector<SceneResult> play_some(const std::vector<std::size_t>& which, std::size_t at_a_time,
                                   const std::function<SceneResult(std::size_t)>& one) {
  std::vector<SceneResult> results(which.size());
  std::list<Running> running;
  std::size_t next = 0;
  while (next < which.size() || !running.empty()) {
    while (next < which.size() && running.size() < at_a_time) {
      running.push_back(begin(which[next], one));
      running.back().index = next++;
    }
    std::vector<pollfd> ends;
    for (const Running& scene : running) ends.push_back({scene.from, POLLIN, 0});
    ::poll(ends.data(), ends.size(), -1);
    std::size_t at = 0;
    for (auto scene = running.begin(); scene != running.end();) {
      if (ends[at++].revents == 0 || read_more(*scene)) {
        ++scene;
        continue;
      }
      ::close(scene->from);
      ::waitpid(scene->pid, nullptr, 0);
      results[scene->index] = from_text(scene->text);
      scene = running.erase(scene);
    }
  }
  return results;
}

}  // namespace

std::vector<SceneResult> play_all(std::size_t count,
                                  const std::function<SceneResult(std::size_t)>& one) {
  // Verbs wait longer than they compute.
  const std::size_t at_a_time = 4 * std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  std::vector<SceneResult> results = play_some(all, at_a_time, one);
  // On a busy machine being late says nothing; alone, it does.
  for (std::size_t i = 0; i < count; ++i) {
    if (results[i].only_late) results[i] = play_some({i}, 1, one).front();
  }
  return results;
}

}  // namespace meterbank::hostile
