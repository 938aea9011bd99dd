// SPDX-License-Identifier: Apache-2.0
//
// A real provider whose callback adds what a test says, and remembers what it was asked.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../../support/comes_true.hpp"
#include "../../support/cooked_values.hpp"
#include "../../support/temporary_directory.hpp"
#include "../../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {

struct Wave {
  std::string name;
  std::uint32_t id = 0;
  std::uint64_t height = 0;
};

// What the callback of a test adds, and what it was asked.
class Waves {
 public:
  void show(std::vector<Wave> waves) {
    const std::lock_guard lock(mutex_);
    waves_ = std::move(waves);
  }
  std::uint32_t operator()(CallbackRequest& request) {
    const std::lock_guard lock(mutex_);
    ++calls_[request.reason()];
    const bool wants_rows = request.reason() == CallbackReason::kEnumerate ||
                            request.reason() == CallbackReason::kCollect;
    if (!wants_rows) return 0;
    last_mask_.assign(request.counter_mask().begin(), request.counter_mask().end());
    last_id_ = request.instance_id();
    last_pattern_ = request.instance_mask();
    collects_many_ = request.collects_many();
    for (const Wave& wave : waves_) {
      added_.push_back(request.add(
          wave.name, wave.id,
          std::array{wave.height, wave.height * 2, std::uint64_t{100}, std::uint64_t{4}}));
    }
    return 0;
  }

  std::mutex mutex_;
  std::vector<Wave> waves_;
  std::vector<std::uint64_t> last_mask_;
  std::uint32_t last_id_ = 0;
  std::string last_pattern_;
  bool collects_many_ = false;
  std::map<CallbackReason, int> calls_;
  std::vector<CallbackRequest::Added> added_;
};

class CallbackQuery : public testing::Test {
 protected:
  Provider provider(const std::string& name = "sea") {
    return *Provider::create({.name = name, .directory = directory_.path()});
  }
  Registration add(Provider& provider, const CountersetSpec& spec = kWaves) {
    return *provider.add(spec, [this](CallbackRequest& request) { return waves_(request); });
  }
  Catalog catalog() {
    auto catalog = *Catalog::open({.directory = directory_.path()});
    catalog.refresh();
    return catalog;
  }
  static std::map<std::string, double> values(const Sample& sample) {
    std::map<std::string, double> values;
    for (const test::KeptValue& row : test::cooked_values(nullptr, sample))
      values[row.short_path()] = row.cooked.value;
    return values;
  }

  TemporaryDirectory directory_;
  Waves waves_;
};

}  // namespace meterbank::test
