// SPDX-License-Identifier: Apache-2.0
//
// Publishes and reads in an object that is constructed before main(), and before anything that the
// libraries might initialise: the linker puts the program first. Wide rows go through the functions
// that the library chooses for the processor.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "../process/numbered_set.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

constexpr std::uint32_t kWords = 70;

class WideSet {
 public:
  explicit WideSet(Consistency consistency) : set_(kWords) {
    CountersetSpec spec = set_.spec();
    spec.consistency = consistency;
    provider_.emplace(*Provider::create({.name = "early", .directory = directory_.path()}));
    instance_ = *provider_->add(spec)->create_instance("it");
    for (std::uint32_t word = 0; word < kWords; ++word) instance_.add(word, word + 1);
    catalog_.emplace(*Catalog::open({.directory = directory_.path()}));
    query_.emplace(*Query::compile(*catalog_, {}));
    query_->collect(sample_);
  }
  [[nodiscard]] bool is_right() const {
    if (content_of(sample_).status.size() != 1) return false;
    for (std::uint32_t word = 0; word < kWords; ++word) {
      if (content_of(sample_).row(0)[word] != word + 1) return false;
    }
    return true;
  }

 private:
  test::NumberedSet set_;
  test::TemporaryDirectory directory_;
  std::optional<Provider> provider_;
  Instance instance_;
  std::optional<Catalog> catalog_;
  std::optional<Query> query_;
  Sample sample_;
};

// Also before the objects of the program that are constructed at the usual time.
ShardedInstance early_sharded __attribute__((init_priority(101)));
const WideSet independent __attribute__((init_priority(101))){Consistency::kIndependent};
const WideSet block(Consistency::kBlock);

}  // namespace
}  // namespace meterbank

int main() {
  const bool is_right = meterbank::independent.is_right() && meterbank::block.is_right();
  std::puts(is_right ? "read before main()" : "what was read before main() is wrong");
  return is_right ? 0 : 1;
}
