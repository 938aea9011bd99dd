// SPDX-License-Identifier: Apache-2.0
//
//   meterbank_relacy SCENARIO holds RANDOM_EXECUTIONS CONTEXT_BOUND
//   meterbank_relacy SCENARIO FAULT RANDOM_EXECUTIONS 0
//
// Explores a scenario with the real header, at random and then by every schedule of at most
// CONTEXT_BOUND forced switches (0: not); at random a load may be two stores behind, in the bounded
// search one. With FAULT, exit status 0 means that the violation was
// found; the execution that shows it is printed.
#include "scenarios.hpp"
#include "shard_scenarios.hpp"

namespace meterbank {
namespace {

struct Plan {
  std::string scenario;
  std::string fault;
  std::uint64_t executions;
  unsigned context_bound;
};

template <typename Suite>
rl::test_result_e explore(rl::scheduler_type_e how, const Plan& plan) {
  std::ofstream nowhere("/dev/null");
  rl::test_params params;
  params.iteration_count = plan.executions;
  params.search_type = how;
  params.context_bound = plan.context_bound;
  params.progress_stream = &nowhere;
  (void)rl::simulate<Suite>(params);
  return params.test_result;
}

bool reached_enough(const std::string& scenario) {
  std::printf("accepted %llu, refused %llu, from a checkpoint %llu, busy %llu\n",
              static_cast<unsigned long long>(reached.accepted),
              static_cast<unsigned long long>(reached.refused),
              static_cast<unsigned long long>(reached.checkpoint),
              static_cast<unsigned long long>(reached.busy));
  const bool bounded = scenario == "bounded";
  if (scenario == "cut" && reached.checkpoint == 0) return false;
  return reached.accepted > 0 && (bounded ? reached.checkpoint > 0 : reached.refused > 0);
}

template <typename Suite>
int run(const Plan& plan) {
  rl::test_result_e result = explore<Suite>(rl::sched_random, plan);
  if (dropped != Fault::kNone) {
    const bool found = result == rl::test_result_user_assert_failed;
    std::printf("%s\n", found ? "the fault was found" : "the fault was NOT found");
    return found ? 0 : 1;
  }
  if (result == rl::test_result_success && plan.context_bound != 0) {
    result = explore<Suite>(rl::sched_bound, plan);
  }
  const bool enough = reached_enough(plan.scenario);
  return result == rl::test_result_success && enough ? 0 : 1;
}

struct NamedScenario {
  const char* name;
  int (*run)(const Plan& plan);
};

constexpr NamedScenario kScenarios[] = {
    {"settled", run<Settled>},    {"checkpoint", run<Checkpoint>}, {"bounded", run<Bounded>},
    {"cut", run<CutPair>},        {"first_save", run<FirstSave>},  {"slot", run<SlotReuse>},
    {"sweep", run<Sweep>},        {"taken_over", run<TakenOver>},  {"hand_over", run<HandOver>},
    {"shard", run<ShardOfALife>},
};

struct NamedFault {
  const char* name;
  Fault fault;
};

constexpr NamedFault kFaults[] = {
    {"holds", Fault::kNone},
    {"missing_release_on_odd", Fault::kReleaseOnOdd},
    {"missing_fence_after_odd", Fault::kFenceAfterOdd},
    {"missing_release_on_even", Fault::kReleaseOnEven},
    {"missing_fence_after_even", Fault::kFenceAfterEven},
    {"missing_release_on_cseq", Fault::kReleaseOnCseq},
    {"missing_commit_fences", Fault::kCommitFences},
    {"missing_acquire_of_seq", Fault::kAcquireOfSeq},
    {"missing_fence_before_seq_again", Fault::kFenceBeforeSeqAgain},
    {"missing_acquire_of_cseq", Fault::kAcquireOfCseq},
    {"missing_fence_before_cseq_again", Fault::kFenceBeforeCseqAgain},
    {"missing_fence_before_slot_again", Fault::kFenceBeforeSlotAgain},
    {"missing_fence_before_membership_again", Fault::kFenceBeforeSlotAgain},
    {"missing_release_on_membership", Fault::kReleaseOnMembership},
    {"missing_fence_after_init", Fault::kFenceAfterInit},
    {"missing_release_on_live", Fault::kReleaseOnLive},
    {"missing_release_on_closed", Fault::kReleaseOnClosed},
    {"missing_acquire_of_slot", Fault::kAcquireOfSlot},
    {"missing_acquire_of_membership", Fault::kAcquireOfMembership},
    {"missing_release_on_directory", Fault::kReleaseOnDirectory},
    {"missing_acquire_of_directory", Fault::kAcquireOfDirectory},
    {"missing_fence_after_announcement", Fault::kFenceAfterAnnouncement},
    {"missing_release_on_ecount", Fault::kReleaseOnEcount},
    {"missing_acquire_of_ecount", Fault::kAcquireOfEcount},
    {"missing_fence_before_ecount_again", Fault::kFenceBeforeEcountAgain},
    {"forgetting_the_version_returned", Fault::kVersionAtLeast},
    {"missing_release_on_giving_back", Fault::kReleaseOnGivingBack},
    {"missing_acquire_on_taking", Fault::kAcquireOnTaking},
    {"missing_fence_after_taking", Fault::kFenceAfterTaking},
    {"first_values_after_live", Fault::kFirstValuesAfterLive},
};

int start(const Plan& plan) {
  for (const NamedFault& known : kFaults) {
    if (plan.fault != known.name) continue;
    dropped = known.fault;
    for (const NamedScenario& scenario : kScenarios) {
      if (plan.scenario == scenario.name) return scenario.run(plan);
    }
  }
  return 2;
}

}  // namespace
}  // namespace meterbank

int main(int argc, char** argv) {
  if (argc == 5) {
    const meterbank::Plan plan{argv[1], argv[2], std::stoull(argv[3]),
                               static_cast<unsigned>(std::stoul(argv[4]))};
    return meterbank::start(plan);
  }
  std::fprintf(stderr, "usage: meterbank_relacy SCENARIO holds|FAULT EXECUTIONS CONTEXT_BOUND\n");
  return 2;
}
