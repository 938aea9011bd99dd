// SPDX-License-Identifier: Apache-2.0
//
// A program that fills as much memory as a reader maps of one user with what costs a reader most,
// says "ready", and waits until its input ends.
//
//   full_provider DIRECTORY MEBIBYTES SHAPE
//
//   small   one set of one independent counter, in tiles, with short names
//   sets    the same instances in 64 sets of each provider
//   names   names of 40 bytes, the longest that lie in a slot
//   wide    sets of 4,096 counters with one instance each
//   empty   the same sets without an instance
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/publisher.hpp"

namespace {

using meterbank::CountersetSpec;
using meterbank::CounterSpec;

constexpr std::uint64_t kMebibyte = 1024 * 1024;
constexpr std::uint64_t kProviderMebibytes = 64;  // CatalogOptions::segment_bytes_max

struct Shape {
  std::size_t sets = 1;
  std::size_t counters = 1;
  std::size_t instances = ~std::size_t{0};  // of each set
  std::size_t name_bytes = 0;               // 0: as short as they can be
};

std::optional<Shape> shape_called(std::string_view name) {
  if (name == "small") return Shape{};
  if (name == "sets") return Shape{.sets = 64};
  if (name == "names") return Shape{.name_bytes = 40};
  if (name == "wide") return Shape{.sets = 256, .counters = 4095, .instances = 1};
  if (name == "empty") return Shape{.sets = 256, .counters = 4095, .instances = 0};
  return std::nullopt;
}

std::string name_of(std::size_t instance, std::size_t bytes) {
  std::string name = std::to_string(instance);
  if (name.size() < bytes) name.insert(0, bytes - name.size(), 'n');
  return name;
}

// Declares sets and creates instances until the provider has no memory left.
class Filler {
 public:
  Filler(const char* directory, std::uint64_t mebibytes, std::size_t number, const Shape& shape)
      : shape_(shape),
        provider_(meterbank::Provider::create_or_disabled({.name = "full" + std::to_string(number),
                                                           .directory = directory,
                                                           .bytes_max = mebibytes * kMebibyte,
                                                           .instances_max = ~std::uint32_t{0},
                                                           .registrations_max = 256})) {
    for (std::size_t index = 0; index < shape.counters; ++index) {
      names_.push_back("Counter " + std::to_string(index));
    }
    for (std::size_t index = 0; index < shape.counters; ++index) {
      counters_.push_back({.id = static_cast<std::uint32_t>(index),
                           .name = names_[index],
                           .symbol = symbols_.emplace_back("c" + std::to_string(index)),
                           .type = meterbank::CounterType::kLargeRawCount});
    }
  }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

  std::size_t fill() {
    std::vector<meterbank::Registration> sets;
    for (std::size_t set = 0; set < shape_.sets; ++set) {
      const std::string name = "Set " + std::to_string(set);
      const std::string symbol = "set_" + std::to_string(set);
      CountersetSpec spec{.name = name, .symbol = symbol, .counters = counters_};
      spec.consistency = meterbank::Consistency::kIndependent;
      spec.checkpoint = false;
      spec.many = true;
      auto added = provider_.add(spec);
      if (!added) break;
      sets.push_back(*added);
      // Where a set takes much memory, the first instance comes before the next set.
      if (shape_.instances != 0 && !create(sets.back(), 0)) break;
    }
    for (std::size_t instance = 1; instance < shape_.instances && !sets.empty(); ++instance) {
      for (const meterbank::Registration& set : sets) {
        if (!create(set, instance)) return created_;
      }
    }
    return created_;
  }

 private:
  bool create(const meterbank::Registration& set, std::size_t instance) {
    auto made = set.create_instance(name_of(instance, shape_.name_bytes));
    if (!made) return false;
    ++created_;
    // It lives until the process ends.
    new (::operator new(sizeof(meterbank::Instance))) meterbank::Instance(std::move(*made));
    return true;
  }

  Shape shape_;
  std::size_t created_ = 0;
  meterbank::Provider provider_;
  std::vector<std::string> names_;
  std::vector<CounterSpec> counters_;
  std::vector<std::string> symbols_ = reserved(shape_.counters);

  static std::vector<std::string> reserved(std::size_t count) {
    std::vector<std::string> strings;
    strings.reserve(count);
    return strings;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const auto shape = argc == 4 ? shape_called(argv[3]) : std::nullopt;
  if (!shape) return 2;
  std::uint64_t left = std::strtoull(argv[2], nullptr, 10);
  std::vector<std::unique_ptr<Filler>> fillers;
  std::size_t created = 0;
  while (left != 0) {
    const std::uint64_t share = std::min(left, kProviderMebibytes);
    fillers.push_back(std::make_unique<Filler>(argv[1], share, fillers.size(), *shape));
    created += fillers.back()->fill();
    left -= share;
  }
  std::printf("ready %zu\n", created);
  std::fflush(stdout);
  char ended = 0;
  while (::read(STDIN_FILENO, &ended, 1) > 0) {
  }
  ::_exit(0);
}
