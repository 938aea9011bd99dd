// SPDX-License-Identifier: Apache-2.0
#include "scene.hpp"

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>

#include "../beside/healthy.hpp"
#include "checks.hpp"
#include "command.hpp"

namespace meterbank::hostile {
namespace {

using std::chrono::milliseconds;

// A reader may wait 2 s for what a provider does, and formats 64 MiB of rows that it answered, on a
// machine that is busy with other tests; one that prints does not hang. Sanitizers make programs
// slower and larger: more time, and memory is not looked at.
constexpr milliseconds kDeadline{test::kHasSanitizer ? 60'000 : 6000};
constexpr milliseconds kReadyIn{test::kHasSanitizer ? 120'000 : 30'000};
constexpr std::uint64_t kMemory = std::uint64_t{32} << 20;

struct Verb {
  std::string name;
  Arguments arguments;
  std::optional<Form> form;              // of the healthy rows; nothing: see `wanted`
  std::vector<std::string> wanted = {};  // in squeezed output
  std::vector<int> codes = {0};          // that it may end with
  bool venues_only = false;
};

// A directory for records, where records belong: on a tmpfs.
class RuntimeDirectory {
 public:
  explicit RuntimeDirectory(Place place) {
    if (place == Place::kDefaultDirectories) return;
    const char* const parent = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = std::string(parent) + "/hostile-corpus-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
    ::chmod(path_.c_str(), place == Place::kSharedDirectory ? 01777 : 0755);
  }
  RuntimeDirectory(const RuntimeDirectory&) = delete;
  RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;
  ~RuntimeDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  // Empty: the default ones.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// Empty: this process has what the attack needs.
std::string prepare(Place place) {
  if (place != Place::kOwnDirectory && ::geteuid() != 0) return "needs root";
  if (place != Place::kDefaultDirectories) return {};
  ::unsetenv("METERBANK_DIR");
  ::unsetenv("XDG_RUNTIME_DIR");
  const bool is_private = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("none", "/dev/shm", "tmpfs", 0, "mode=1777") == 0 &&
                          ::mount("none", "/run", "tmpfs", 0, "mode=755") == 0;
  return is_private ? std::string() : "needs a mount namespace";
}

class Scene {
 public:
  Scene(const Programs& programs, const Attack& attack, std::size_t number)
      : programs_(programs), attack_(attack), number_(number) {}

  SceneResult play();

 private:
  void look();
  void read_report();
  void run(const Verb& verb);
  void watch();
  void clean();
  void judge(const std::string& verb, const Run& run, const std::vector<int>& codes);
  void check_proof();
  void find(const std::string& what) { result_.findings.push_back(what); }
  [[nodiscard]] std::vector<Verb> verbs() const;
  [[nodiscard]] std::vector<Verb> formats() const;
  [[nodiscard]] Expected expected(bool venues_only) const;
  [[nodiscard]] Arguments cli(Arguments words) const {
    words.insert(words.begin(), programs_.cli);
    return words;
  }

  const Programs& programs_;
  const Attack& attack_;
  const std::size_t number_;
  SceneResult result_;
  std::uint32_t healthy_pid_ = 0;
  std::uint64_t mapped_ = 0;
  std::size_t late_ = 0;
  std::string report_;
};

Expected Scene::expected(bool venues_only) const {
  Expected expected{.pid = healthy_pid_, .totals = {kHealthyTotal}, .venues_only = venues_only};
  if (attack_.adds != 0) expected.totals.push_back(kHealthyTotal + attack_.adds);
  return expected;
}

std::vector<Verb> Scene::formats() const {
  const auto with = [](const std::string& name, Form form, const Arguments& more = {}) {
    Arguments words{"get", "*", "-i", "40ms", "-f", name};
    // One of them waits for providers as long as it does by default.
    if (form != Form::kPlain) words.insert(words.end(), {"--callback-timeout", "300ms"});
    words.insert(words.end(), more.begin(), more.end());
    return Verb{"get * -f " + name, words, form};
  };
  std::vector<Verb> all{with("table", Form::kTable, {"--hist"}),
                        with("plain", Form::kPlain),
                        with("tsv", Form::kTsv),
                        with("csv", Form::kCsv),
                        with("json", Form::kJson, {"--hist"}),
                        with("jsonl", Form::kJson),
                        with("pdh-csv", Form::kPdhCsv),
                        with("pdh-tsv", Form::kPdhTsv)};
  return all;
}

std::vector<Verb> Scene::verbs() const {
  const std::string label = "healthy@" + std::to_string(healthy_pid_);
  const std::vector<int> may_miss{0, 1, 3};  // a provider that cannot be read, or nothing matched
  std::vector<Verb> all{
      {"list", cli({"list"}), {}, {"healthy_venues", "healthy_machine", "healthy_pools"}, may_miss},
      {"list -l", cli({"list", "-l", "*/*"}), {}, {"Healthy Venues"}, may_miss},
      {"list --instances",
       cli({"list", "--instances"}),
       {},
       {"healthy_venues\teu\t", "healthy_venues\tasia\t", "healthy_pools\tsmall\t"},
       may_miss},
      {"list --providers", cli({"list", "--providers"}), {}, {label + "\thealthy\t"}, may_miss},
      {"list --registrations",
       cli({"list", "--registrations"}),
       {},
       {label + "\thealthy_venues\t", label + "\thealthy_pools\t"},
       may_miss},
      {"get * --raw", cli({"get", "*", "--raw"}), Form::kPlain, {}, may_miss},
      {"get healthy paths",
       cli({"get", "healthy_venues/*/level", "healthy_machine/level", "healthy_pools/*/level"}),
       Form::kPlain},
      {"pmu list", cli({"pmu", "list"}), {}, {}, {0, 1, 3}},
      {"doctor", cli({"doctor"}), {}, {label + " live, 3 sets"}, {0, 1}},
      {"typeperf",
       cli({"typeperf", "\\Healthy Venues(*)\\Level", "-sc", "1"}),
       Form::kPdhCsv,
       {},
       {0},
       true},
      {"perflib", {programs_.perflib_reader}, Form::kPerflib, {}, {0}, true}};
  for (Verb& verb : formats()) {
    verb.arguments = cli(verb.arguments);
    verb.codes = may_miss;
    all.push_back(verb);
  }
  std::vector<Verb> part;
  for (std::size_t i = number_ % programs_.parts; i < all.size(); i += programs_.parts) {
    part.push_back(all[i]);
  }
  return part;
}

void Scene::judge(const std::string& verb, const Run& run, const std::vector<int>& codes) {
  ++result_.verbs;
  if (run.seconds > result_.slowest_seconds) {
    result_.slowest_seconds = run.seconds;
    result_.slowest = verb;
  }
  if (run.late) {
    ++late_;
    return find(verb + ": did not end, nor print anything for " +
                std::to_string(kDeadline.count()) + " ms");
  }
  if (run.signal != 0) {
    return find(verb + ": ended by signal " + std::to_string(run.signal) + " " +
                std::string(::strsignal(run.signal)) + "; " + run.err.substr(0, 300));
  }
  if (std::find(codes.begin(), codes.end(), run.code) == codes.end()) {
    find(verb + ": ended with code " + std::to_string(run.code) + "; " + run.err.substr(0, 300));
  }
  if (const auto bytes = forbidden_bytes(run.err, Output::kLines); !bytes.empty()) {
    find(verb + ": standard error has " + bytes);
  }
  if (test::kHasSanitizer) return;
  const double peak = static_cast<double>(run.peak_bytes) / (1 << 20);
  result_.peak_mebibytes = std::max(result_.peak_mebibytes, peak);
  if (run.peak_bytes > 2 * mapped_ + kMemory) {
    find(verb + ": took " + std::to_string(static_cast<int>(peak)) + " MiB, where " +
         std::to_string(mapped_ >> 20) + " MiB can be mapped");
  }
}

void Scene::run(const Verb& verb) {
  const Run run = run_command(verb.arguments, kDeadline);
  judge(verb.name, run, verb.codes);
  if (!run.exited()) return;
  if (const auto bytes = forbidden_bytes(run.out, Output::kLines); !bytes.empty()) {
    find(verb.name + ": standard output has " + bytes);
  }
  if (verb.form) {
    const std::string missing = missing_rows(run.out, *verb.form, expected(verb.venues_only));
    if (!missing.empty()) {
      find(verb.name + ": not there or not right:" + missing + "; " + run.err.substr(0, 100));
    }
  }
  if (verb.wanted.empty()) return;
  const std::string text = squeezed(run.out);
  for (const std::string& part : verb.wanted) {
    if (text.find(part) == std::string::npos) find(verb.name + ": does not say '" + part + "'");
  }
}

// The small reader first: it says what can be mapped, which bounds the memory of all.
void Scene::read_report() {
  const Run run = run_command({programs_.small_reader}, kDeadline);
  const std::size_t at = run.out.find("mapped ");
  if (at != std::string::npos) {
    std::from_chars(run.out.data() + at + 7, run.out.data() + run.out.size(), mapped_);
  }
  mapped_ += attack_.answers;
  judge("small reader", run, {0});
  const std::string missing = missing_rows(run.out, Form::kReport, expected(false));
  if (run.exited() && !missing.empty()) find("small reader: not there or not right:" + missing);
  const std::size_t last = run.out.rfind('\n', run.out.size() < 2 ? 0 : run.out.size() - 2);
  report_ = " " + (last == std::string::npos ? run.out : run.out.substr(last + 1));
}

// A word of the proof stands in the report, or its number there is more than zero.
void Scene::check_proof() {
  std::string_view proof = attack_.proof;
  if (proof.empty()) return;
  while (!proof.empty()) {
    const std::size_t end = std::min(proof.find('|'), proof.size());
    std::string word = " " + std::string(proof.substr(0, end));
    proof.remove_prefix(std::min(end + 1, proof.size()));
    const bool counts = word.back() == '>';
    if (counts) word.back() = '=';
    const std::size_t at = report_.find(word);
    if (at != std::string::npos && (!counts || report_.at(at + word.size()) != '0')) return;
  }
  find("the attack is not seen to take place: wanted " + std::string(attack_.proof) +
       ", the small reader says: " + report_);
}

void Scene::watch() {
  const Run run =
      run_on_terminal(cli({"watch", "*", "-i", "100ms"}), milliseconds(250), "q", kDeadline);
  judge("watch", run, {0});
  if (const auto bytes = forbidden_bytes(run.out, Output::kTerminal); !bytes.empty()) {
    find("watch: the terminal is sent " + bytes);
  }
  if (run.exited() && run.out.empty()) find("watch: shows nothing");
}

// What cleans up must know the living from the dead.
void Scene::clean() {
  run({"doctor --clean", cli({"doctor", "--clean"}), {}, {}, {0, 1}});
  run({"list --providers after doctor --clean",
       cli({"list", "--providers"}),
       {},
       {"healthy@" + std::to_string(healthy_pid_) + "\thealthy\t"},
       {0, 1, 3}});
}

void Scene::look() {
  read_report();
  // What it did not say in time proves nothing.
  if (late_ == 0) check_proof();
  for (const Verb& verb : verbs()) run(verb);
  if (number_ % programs_.parts == 0) watch();
  if (number_ % programs_.parts == 1 % programs_.parts) clean();
}

SceneResult Scene::play() {
  result_.name = attack_.name;
  result_.skipped = prepare(attack_.place);
  if (!result_.skipped.empty()) return result_;
  const RuntimeDirectory directory(attack_.place);
  if (!directory.path().empty()) {
    ::setenv("METERBANK_DIR", directory.path().c_str(), 1);
    ::setenv("METERBANK_PMUD_DIR", directory.path().c_str(), 1);
  }
  {
    Background healthy({programs_.healthy}, kReadyIn);
    if (!healthy.error().empty()) find("the healthy provider " + healthy.error());
    healthy_pid_ = static_cast<std::uint32_t>(healthy.pid());
    Background attacker({programs_.provider, std::string(attack_.name)}, kReadyIn);
    if (!attacker.error().empty()) find("the attacker " + attacker.error());
    if (result_.findings.empty()) look();
    if (!healthy.is_alive()) find("the healthy provider has ended");
    if (!attacker.is_alive()) find("the attacker has ended");
  }
  kill_descendants();
  result_.only_late = late_ != 0 && late_ == result_.findings.size();
  return result_;
}

}  // namespace

SceneResult play(const Programs& programs, const Attack& attack, std::size_t number) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return Scene(programs, attack, number).play();
}

}  // namespace meterbank::hostile
