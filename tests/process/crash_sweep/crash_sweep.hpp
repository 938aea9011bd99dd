// SPDX-License-Identifier: Apache-2.0
//
// Death at every instruction. A child performs an operation one instruction at a time; after each,
// this process looks at the shared memory as a reader would had the child been killed there. Some
// children really are, and a fresh mapping of what they left is judged the same way.
//
// What is judged is the order of the program, which is what a death can cut: stores that were
// retired reach memory whatever happens to the process. What another processor can see meanwhile is
// the business of tests/model.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "../segment_eye.hpp"
#include "stepped_child.hpp"

namespace meterbank::test {

struct Tally {
  std::uint64_t points = 0;  // instructions after which the memory was judged
  std::uint64_t kills = 0;   // children that were killed and judged through a fresh mapping
  std::uint64_t unreadable = 0;
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
  std::uint64_t malformed = 0;  // in the directory
  std::string first_fault;

  void note(std::uint64_t& kind, const std::string& what) {
    if (++kind == 1 && first_fault.empty()) {
      first_fault = what + " at point " + std::to_string(points);
    }
  }
  [[nodiscard]] std::uint64_t faults() const { return unreadable + torn + backwards + malformed; }
};

std::ostream& operator<<(std::ostream& out, const Tally& tally);

// An operation and the judgement of it. All that is declared here runs in this process.
class JudgedAct : public Act {
 public:
  virtual void forget() = 0;               // what was seen of an earlier child
  virtual void bind(SegmentEye& eye) = 0;  // look through this mapping from now on
  virtual void look(SegmentEye& eye, Tally& tally) = 0;
  virtual bool is_complete() const = 0;  // the last look saw the operation done
};

// One child to its end, judged after each instruction. Then `kills` further children, each killed
// on the way, at points spread evenly over the operation.
void sweep(const std::string& directory, JudgedAct& act, std::uint64_t kills, Tally& tally);

// For controls: one child to its end, looked at after each instruction. Prints the tally.
void step_through(const std::string& directory, Act& act, Tally& tally,
                  const std::function<void(SegmentEye&)>& look);

// No fault, and enough points to mean something.
void expect_clean(const Tally& tally, std::uint64_t points_min, std::uint64_t points_min_long);

}  // namespace meterbank::test
