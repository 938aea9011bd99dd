// SPDX-License-Identifier: Apache-2.0
//
// A provider with one callback registration, and readers that ask it packet by packet.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "../support/comes_true.hpp"
#include "../support/descriptors.hpp"
#include "../support/orders_schema.hpp"
#include "../support/temporary_directory.hpp"
#include "asking_reader.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank::test {

// Callbacks wait here until they are let through.
class Gate {
 public:
  // A test that fails early leaves no waiting thread behind.
  ~Gate() {
    open();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ == 0; });
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --waiting_;
    changed_.notify_all();
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for(int waiting) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= waiting; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

class ChannelFixture : public testing::Test {
 protected:
  ChannelFixture() : provider_(make({})) {}

  Provider make(ProviderOptions options) const {
    options.name = "orders";
    options.directory = directory_.path();
    auto provider = Provider::create(std::move(options));
    EXPECT_TRUE(provider) << provider.error().message();
    return std::move(*provider);
  }
  Registration register_with(Callback callback, CallbackOptions options = {}) {
    auto registration = provider_.add(kOrders, std::move(callback), options);
    EXPECT_TRUE(registration) << registration.error().message();
    return registration ? *registration : Registration();
  }

  // Of the newest registration, as a reader finds it.
  [[nodiscard]] ChannelRequest request(MessageType type) const {
    ChannelRequest request;
    request.type = type;
    const auto catalog = Catalog::open({.directory = directory_.path()});
    const auto& sets = catalog->providers().at(0)->sets;
    if (sets.empty()) return request;
    request.registration = sets.back().registration;
    request.generation = sets.back().generation;
    return request;
  }
  [[nodiscard]] std::uint64_t readers_in_segment() const {
    const auto catalog = Catalog::open({.directory = directory_.path()});
    const auto& provider = *catalog->providers().at(0);
    return provider.segment->at<RegistrationRecord>(provider.sets.at(0).registration)
        ->interest.load(std::memory_order_relaxed);  // relaxed: a hint
  }
  [[nodiscard]] AskingReader reader() const { return AskingReader(provider_.record()); }

  TemporaryDirectory directory_;
  Provider provider_;
};

}  // namespace meterbank::test
