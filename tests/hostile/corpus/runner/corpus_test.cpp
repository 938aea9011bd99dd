// SPDX-License-Identifier: Apache-2.0
//
// The corpus: every attack beside a healthy provider. `METERBANK_CORPUS=NAME,NAME` plays some.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "scene.hpp"

namespace meterbank::hostile {
namespace {

Programs programs() {
  Programs programs;
  programs.cli = METERBANK_CLI;
  programs.provider = METERBANK_HOSTILE_PROVIDER;
  programs.healthy = METERBANK_HEALTHY_PROVIDER;
  programs.small_reader = METERBANK_SMALL_READER;
  programs.perflib_reader = METERBANK_PERFLIB_READER;
  return programs;
}

bool is_wanted(std::string_view name) {
  const char* const chosen = std::getenv("METERBANK_CORPUS");
  if (chosen == nullptr || *chosen == '\0') return true;
  return ("," + std::string(chosen) + ",").find("," + std::string(name) + ",") != std::string::npos;
}

// One line each, then the summary. Returns what did not hold.
std::string report(const std::vector<SceneResult>& results) {
  std::string faults;
  unsigned verbs = 0, played = 0, failed = 0;
  const SceneResult* slowest = nullptr;
  for (const SceneResult& result : results) {
    std::printf("  %-42s %-6s %3u runs, slowest %5.2f s %-16s peak %5.1f MiB%s%s\n",
                result.name.c_str(),
                !result.skipped.empty()   ? "SKIP"
                : result.findings.empty() ? "ok"
                                          : "FAILED",
                result.verbs, result.slowest_seconds, result.slowest.c_str(), result.peak_mebibytes,
                result.skipped.empty() ? "" : " skipped: ", result.skipped.c_str());
    verbs += result.verbs;
    played += result.skipped.empty() ? 1U : 0U;
    failed += result.findings.empty() ? 0U : 1U;
    if (slowest == nullptr || result.slowest_seconds > slowest->slowest_seconds) slowest = &result;
    constexpr std::size_t kShown = 6;  // the others say the same, of other verbs
    for (std::size_t i = 0; i < result.findings.size() && i < kShown; ++i) {
      faults += "  " + result.name + ": " + result.findings[i] + "\n";
    }
    if (result.findings.size() > kShown) {
      faults += "  " + result.name + ": and " + std::to_string(result.findings.size() - kShown) +
                " more\n";
    }
  }
  std::printf("  %u of %zu attacks, %u runs, %u failed; slowest: %s of %s, %.2f s\n", played,
              results.size(), verbs, failed, slowest == nullptr ? "-" : slowest->slowest.c_str(),
              slowest == nullptr ? "-" : slowest->name.c_str(),
              slowest == nullptr ? 0 : slowest->slowest_seconds);
  return faults;
}

std::string play_attacks(const Programs& with, const std::vector<Attack>& attacks) {
  const auto one = [&](std::size_t index) { return play(with, attacks[index], index); };
  return report(play_all(attacks.size(), one));
}

Attack attack_called(std::string_view name) {
  for (const Attack& attack : all_attacks()) {
    if (attack.name == name) return attack;
  }
  ADD_FAILURE() << "no attack is called " << name;
  return {};
}

TEST(HostileCorpus, HasAttacksOfDifferentNames) {
  std::set<std::string_view> names;
  for (const Attack& attack : all_attacks()) {
    EXPECT_TRUE(names.insert(attack.name).second) << attack.name;
    EXPECT_FALSE(attack.what.empty()) << attack.name;
  }
  EXPECT_GE(all_attacks().size(), 60U);
}

TEST(HostileCorpus, NoProviderHarmsReadersOrOtherProviders) {
  std::vector<Attack> wanted;
  for (const Attack& attack : all_attacks()) {
    if (is_wanted(attack.name)) wanted.push_back(attack);
  }
  EXPECT_EQ(play_attacks(programs(), wanted), "");
}

// The checks themselves, on a program in the place of the CLI that does one thing wrong.
class HostileCorpusControl : public testing::Test {
 protected:
  static std::string findings_of(const char* fault) {
    ::setenv("METERBANK_FAKE_FAULT", fault, 1);
    ::setenv("METERBANK_REAL_CLI", METERBANK_CLI, 1);
    Programs with = programs();
    with.parts = 1;
    with.cli = METERBANK_FAKE_CLI;
    return play_attacks(with, {attack_called("header_state_unknown")});
  }
};

TEST_F(HostileCorpusControl, PassesTheRealProgram) { EXPECT_EQ(findings_of("none"), ""); }

TEST_F(HostileCorpusControl, FindsAVerbThatCrashes) {
  EXPECT_NE(findings_of("crash").find("doctor: ended by signal 11"), std::string::npos);
}

TEST_F(HostileCorpusControl, FindsAVerbThatHangs) {
  EXPECT_NE(findings_of("hang").find("doctor: did not end"), std::string::npos);
}

TEST_F(HostileCorpusControl, FindsAnExitCodeThatIsNotDocumented) {
  EXPECT_NE(findings_of("code").find("doctor: ended with code 42"), std::string::npos);
}

TEST_F(HostileCorpusControl, FindsControlBytes) {
  EXPECT_NE(findings_of("control").find("doctor: standard output has a control character"),
            std::string::npos);
  EXPECT_NE(findings_of("watch").find("watch: the terminal is sent"), std::string::npos);
}

TEST_F(HostileCorpusControl, FindsMemoryBeyondTheBound) {
  if (test::kHasSanitizer) GTEST_SKIP() << "memory is not looked at under a sanitizer";
  EXPECT_NE(findings_of("memory").find("doctor: took "), std::string::npos);
}

TEST_F(HostileCorpusControl, FindsAMissingHealthyRow) {
  EXPECT_NE(findings_of("row").find("not there or not right: healthy_venues/eu/level=100"),
            std::string::npos);
}

TEST_F(HostileCorpusControl, FindsAnAttackThatDoesNotTakePlace) {
  Attack harmless = attack_called("header_state_unknown");
  harmless.proof = "error=SPARSE";
  EXPECT_NE(play_attacks(programs(), {harmless}).find("not seen to take place"), std::string::npos);
}

}  // namespace
}  // namespace meterbank::hostile
