// SPDX-License-Identifier: Apache-2.0
#include "workplace.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

namespace meterbank::bench {

void give_up(const std::string& why, int status) {
  std::fprintf(stderr, "meterbank_bench: %s\n", why.c_str());
  std::exit(status);
}

std::string program_beside(std::string_view name) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  return std::filesystem::exists(program) ? program.string() : std::string();
}

Workplace::Workplace() {
  provider_.push_back(must(Provider::create({.name = "bench",
                                             .directory = directory_.path(),
                                             .bytes_max = std::uint64_t{2} << 30,
                                             .instances_max = 3'000'000})));
}

Registration add_set(Provider& provider, const SetShape& shape, unsigned number,
                     const Callback& callback) {
  std::vector<std::string> names;
  for (std::size_t index = 0; index < shape.counters; ++index) {
    names.push_back(fmt::format("c{}", index));
  }
  std::vector<CounterSpec> counters;
  for (std::size_t index = 0; index < shape.counters; ++index) {
    counters.push_back({.id = static_cast<std::uint32_t>(index + 1),
                        .name = names[index],
                        .symbol = names[index]});
  }
  const std::string name = fmt::format("Bench {}", number);
  const std::string symbol = fmt::format("bench_{}", number);
  const CountersetSpec spec{.name = name,
                            .symbol = symbol,
                            .consistency = shape.consistency,
                            .many = shape.many,
                            .checkpoint = shape.checkpoint,
                            .cuts = shape.cuts,
                            .shards = shape.shards,
                            .by_processor = shape.by_processor,
                            .counters = counters};
  return must(callback ? provider.add(spec, callback) : provider.add(spec));
}

Registration Workplace::add(const SetShape& shape, const Callback& callback) {
  return add_set(provider_.front(), shape, sets_++, callback);
}

std::vector<Instance> Workplace::fill(const Registration& set, const SetShape& shape,
                                      std::size_t count) const {
  std::vector<Instance> instances;
  instances.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    instances.push_back(must(set.create_instance(fmt::format("i{}", index))));
    for (std::size_t counter = 0; counter < shape.counters; ++counter) {
      instances.back().set(counter, index * 100 + counter);
    }
  }
  return instances;
}

std::uint64_t Workplace::segment_bytes() {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    struct stat facts = {};
    if (target.rfind("/memfd:", 0) == 0 && ::stat(entry.path().c_str(), &facts) == 0) {
      bytes += static_cast<std::uint64_t>(facts.st_size);
    }
  }
  return bytes;
}

}  // namespace meterbank::bench
