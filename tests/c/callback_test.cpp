// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/callback.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

#include "orders.hpp"

namespace meterbank::test {
namespace {

using namespace std::chrono_literals;

// What a callback saw, and what it is to do.
struct Answering {
  std::atomic<int> collects{0}, interests{0};
  std::atomic<bool> deadline_is_ahead{false}, wants_second{false};
  std::uint32_t code = 0;
  bool throws = false;
  mb_row_added bad_name{}, no_values{}, reserved_id{};
};

std::uint32_t answer(mb_request* request, void* context) {
  auto& answering = *static_cast<Answering*>(context);
  switch (mb_request_why(request)) {
    case MB_REQUEST_ADD_INTEREST:
      ++answering.interests;
      return 0;
    case MB_REQUEST_REMOVE_INTEREST:
      --answering.interests;
      return 0;
    default:
      break;
  }
  if (answering.throws) throw std::runtime_error("from a callback of C");
  ++answering.collects;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  answering.deadline_is_ahead =
      mb_request_deadline_ns(request) > static_cast<std::uint64_t>(now.count());
  answering.wants_second = mb_request_wants(request, 2) != 0;
  const std::uint64_t values[] = {10, 20, 30};
  EXPECT_EQ(mb_request_is_cancelled(request), 0);
  EXPECT_EQ(mb_request_instance_id(request), 0xffffffffU);
  EXPECT_NE(mb_request_collects_many(request), 0);
  std::size_t bytes = 0;
  const char* const mask = mb_request_instance_mask(request, &bytes);
  EXPECT_EQ(std::string(mask, bytes), "*");
  EXPECT_EQ(mb_request_add(request, "one", 1, values, 3), MB_ROW_ADDED);
  EXPECT_EQ(mb_request_add(request, "two", 2, values, 3), MB_ROW_ADDED);
  answering.bad_name = mb_request_add(request, "\xff", 3, values, 3);
  answering.no_values = mb_request_add(request, "three", 3, nullptr, 3);
  answering.reserved_id = mb_request_add(request, "four", 0xffffffff, values, 3);
  return answering.code;
}

// A query over all that a provider has, answers included.
class Asking {
 public:
  explicit Asking(const OrdersProvider& provider)
      : catalog_(*Catalog::open({.directory = provider.directory().path()})) {
    EXPECT_TRUE(catalog_.refresh());
    query_.emplace(*Query::compile(catalog_, {}));
  }
  std::map<std::string, std::uint64_t> collect() {
    query_->collect(sample_, 10s);
    std::map<std::string, std::uint64_t> seen;
    for (const KeptValue& value : cooked_values(nullptr, sample_)) {
      seen[std::string(value.instance().name) + "/" + value.symbol()] = value.raw.value;
    }
    return seen;
  }
  [[nodiscard]] const Sample& sample() const { return sample_; }

 private:
  Catalog catalog_;
  std::optional<Query> query_;
  Sample sample_;
};

mb_set* add_answering(const OrdersProvider& provider, Answering& answering) {
  OrdersSpec spec;
  mb_set* set = nullptr;
  mb_error error;
  EXPECT_EQ(mb_provider_add_callback(provider.get(), spec.get(), answer, &answering, nullptr, &set,
                                     &error),
            MB_OK)
      << error.what;
  return set;
}

TEST(CallbackOfC, AddsRowsBesideCreatedInstances) {
  OrdersProvider provider;
  Answering answering;
  mb_set* const set = add_answering(provider, answering);
  const mb_instance eu = create_instance(set, "eu");
  mb_instance_set(&eu, kDepth, 5);
  {
    Asking asking(provider);
    const auto seen = asking.collect();
    EXPECT_EQ(seen.at("eu/depth"), 5U);
    EXPECT_EQ(seen.at("one/accepted"), 10U);
    EXPECT_EQ(seen.at("two/depth"), 30U);
    EXPECT_EQ(seen.size(), 9U);
  }
  EXPECT_GE(answering.collects.load(std::memory_order_relaxed), 1);
  EXPECT_TRUE(answering.deadline_is_ahead.load(std::memory_order_relaxed));
  EXPECT_TRUE(answering.wants_second.load(std::memory_order_relaxed));
  EXPECT_EQ(answering.bad_name, MB_ROW_BAD_NAME);
  EXPECT_EQ(answering.no_values, MB_ROW_NO_VALUES);
  EXPECT_EQ(answering.reserved_id, MB_ROW_RESERVED_ID);
  mb_provider_close(provider.get());  // the context goes before the provider object does
}

TEST(CallbackOfC, ShowsReadersItsCodeAndItsRows) {
  OrdersProvider provider;
  Answering answering;
  answering.code = 42;
  add_answering(provider, answering);
  {
    Asking asking(provider);
    EXPECT_EQ(asking.collect().count("one/accepted"), 1U);
    ASSERT_EQ(asking.sample().callbacks->size(), 1U);
    EXPECT_EQ(asking.sample().callbacks->at(0).code, 42U);
  }
  mb_provider_close(provider.get());
}

TEST(CallbackOfC, KeepsAnExceptionOfItsOwnCallbackInside) {
  OrdersProvider provider;
  Answering answering;
  answering.throws = true;
  add_answering(provider, answering);
  {
    Asking asking(provider);
    EXPECT_EQ(asking.collect().count("one/accepted"), 0U);
    ASSERT_EQ(asking.sample().callbacks->size(), 1U);
  }
  mb_provider_close(provider.get());
}

// A set that its own callback closes, and the provider with it.
struct Closing {
  mb_provider* provider = nullptr;
  std::atomic<mb_set*> set{nullptr};
};

std::uint32_t close_everything(mb_request* request, void* context) {
  auto& closing = *static_cast<Closing*>(context);
  if (mb_request_why(request) != MB_REQUEST_COLLECT) return 0;
  mb_set_close(closing.set.load(std::memory_order_acquire));
  mb_provider_close(closing.provider);
  return 7;
}

TEST(CallbackOfC, MayCloseItsOwnSetAndProvider) {
  const OrdersProvider provider;
  Closing closing;
  closing.provider = provider.get();
  OrdersSpec spec;
  mb_set* set = nullptr;
  ASSERT_EQ(mb_provider_add_callback(provider.get(), spec.get(), close_everything, &closing,
                                     nullptr, &set, nullptr),
            MB_OK);
  closing.set.store(set, std::memory_order_release);
  Asking asking(provider);
  asking.collect();
  mb_instance eu;
  EXPECT_EQ(mb_set_create_instance(set, "eu", nullptr, &eu, nullptr), MB_BAD_HANDLE);
  mb_set* other = nullptr;
  EXPECT_EQ(mb_provider_add(provider.get(), spec.get(), &other, nullptr), MB_BAD_HANDLE);
}

TEST(InterestOfC, SaysWhetherAnyReaderCollectsTheSet) {
  OrdersProvider provider;
  Answering answering;
  mb_set* const set = add_answering(provider, answering);
  const mb_interest* interest = nullptr;
  const mb_interest* again = nullptr;
  ASSERT_EQ(mb_set_interest(set, &interest, nullptr), MB_OK);
  ASSERT_EQ(mb_set_interest(set, &again, nullptr), MB_OK);
  EXPECT_EQ(interest, again);
  EXPECT_EQ(mb_interest_wanted(interest), 0);
  {
    Asking asking(provider);
    asking.collect();
    EXPECT_EQ(mb_interest_wanted(interest), 1);
    EXPECT_EQ(mb_interest_wants_counter(interest, kBytes), 1);
    EXPECT_EQ(mb_interest_wants_counter(interest, 4000), 0);
    EXPECT_EQ(answering.interests.load(std::memory_order_relaxed), 1);
  }
  for (int wait = 0; wait < 5000 && mb_interest_wanted(interest) != 0; ++wait) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(mb_interest_wanted(interest), 0);
  mb_set_close(set);
  mb_provider_close(provider.get());
  EXPECT_EQ(mb_interest_wanted(interest), 0);  // valid until the process ends
}

TEST(InterestOfC, IsNothingInOtherSetsAndOfNull) {
  const OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  const mb_interest* interest = nullptr;
  ASSERT_EQ(mb_set_interest(set, &interest, nullptr), MB_OK);
  EXPECT_EQ(mb_interest_wanted(interest), 0);
  EXPECT_EQ(mb_interest_wants_counter(interest, 0), 0);
  EXPECT_EQ(mb_set_interest(nullptr, &interest, nullptr), MB_OK);
  EXPECT_EQ(interest, nullptr);
  EXPECT_EQ(mb_interest_wanted(nullptr), 0);
  EXPECT_EQ(mb_interest_wants_counter(nullptr, 0), 0);
  EXPECT_EQ(mb_set_interest(set, nullptr, nullptr), MB_INVALID_ARGUMENT);
  mb_set_close(set);
  EXPECT_EQ(mb_set_interest(set, &interest, nullptr), MB_BAD_HANDLE);
}

TEST(CallbackOfC, IsRefusedWithWrongArguments) {
  const OrdersProvider provider;
  OrdersSpec spec;
  mb_set* set = nullptr;
  mb_callback_options options = MB_CALLBACK_OPTIONS_INIT;
  options.flags = 8;
  EXPECT_EQ(mb_provider_add_callback(provider.get(), spec.get(), answer, nullptr, &options, &set,
                                     nullptr),
            MB_INVALID_ARGUMENT);
  options.flags = MB_CALLBACK_SERIAL;
  options.size = 3;
  EXPECT_EQ(mb_provider_add_callback(provider.get(), spec.get(), answer, nullptr, &options, &set,
                                     nullptr),
            MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_provider_add_callback(provider.get(), spec.get(), answer, nullptr, nullptr, nullptr,
                                     nullptr),
            MB_INVALID_ARGUMENT);
  set = reinterpret_cast<mb_set*>(std::uintptr_t{5});
  EXPECT_EQ(mb_provider_add_callback(nullptr, spec.get(), answer, nullptr, nullptr, &set, nullptr),
            MB_OK);
  EXPECT_EQ(set, nullptr);
  EXPECT_EQ(mb_provider_add_callback(provider.get(), spec.get(), nullptr, nullptr, nullptr, &set,
                                     nullptr),
            MB_OK);
  EXPECT_NE(set, nullptr);
}

}  // namespace
}  // namespace meterbank::test
