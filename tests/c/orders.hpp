// SPDX-License-Identifier: Apache-2.0
//
// What tests of the C interface publish, and how they read it back.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../support/cooked_values.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/c/publisher.h"
#include "meterbank/reader.hpp"

namespace meterbank::test {

enum OrdersCounter : std::uint32_t { kAccepted, kBytes, kDepth };

inline mb_counter_spec counter_spec(std::uint32_t id, const char* name, const char* symbol,
                                    std::uint32_t type = MB_TYPE_LARGE_RAW_COUNT) {
  mb_counter_spec spec{};
  spec.id = id;
  spec.name = name;
  spec.symbol = symbol;
  spec.type = type;
  return spec;
}

// A set of three numbers, or of others.
struct OrdersSpec {
  std::vector<mb_counter_spec> counters{counter_spec(1, "Accepted", "accepted"),
                                        counter_spec(2, "Bytes", "bytes"),
                                        counter_spec(5, "Depth", "depth")};
  mb_counterset_spec set = MB_COUNTERSET_SPEC_INIT;

  explicit OrdersSpec(std::uint32_t flags = 0) {
    set.name = "Orders";
    set.symbol = "orders";
    set.flags = flags;
  }
  const mb_counterset_spec* get() {
    set.counters = counters.data();
    set.counters_count = static_cast<std::uint32_t>(counters.size());
    return &set;
  }
};

// A provider in a directory of its own.
class OrdersProvider {
 public:
  explicit OrdersProvider(std::uint64_t quarantine_ms = 5000, std::uint32_t heartbeat_ms = 1000) {
    mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
    options.quarantine_ms = quarantine_ms;
    options.heartbeat_ms = heartbeat_ms;
    options.name = "orders";
    options.directory = directory_.path().c_str();
    mb_error error;
    EXPECT_EQ(mb_provider_create(&options, &provider_, &error), MB_OK) << error.what;
  }
  OrdersProvider(const OrdersProvider&) = delete;
  OrdersProvider& operator=(const OrdersProvider&) = delete;
  ~OrdersProvider() { mb_provider_close(provider_); }

  [[nodiscard]] mb_provider* get() const { return provider_; }
  [[nodiscard]] const TemporaryDirectory& directory() const { return directory_; }
  [[nodiscard]] mb_set* add(const mb_counterset_spec* spec) const {
    mb_set* set = nullptr;
    mb_error error;
    EXPECT_EQ(mb_provider_add(provider_, spec, &set, &error), MB_OK) << error.what;
    return set;
  }

 private:
  TemporaryDirectory directory_;
  mb_provider* provider_ = nullptr;
};

inline mb_instance create_instance(mb_set* set, const char* name) {
  mb_instance instance;
  mb_error error;
  EXPECT_EQ(mb_set_create_instance(set, name, nullptr, &instance, &error), MB_OK) << error.what;
  return instance;
}

// "eu/accepted" -> what a reader sees now.
inline std::map<std::string, KeptValue> read_all(const OrdersProvider& provider) {
  auto catalog = *Catalog::open({.directory = provider.directory().path()});
  EXPECT_TRUE(catalog.refresh());
  Query query = *Query::compile(catalog, {});
  Sample sample;
  query.collect(sample);
  std::map<std::string, KeptValue> seen;
  for (const KeptValue& value : cooked_values(nullptr, sample)) {
    seen.emplace(std::string(value.instance().name) + "/" + value.symbol(), value);
  }
  return seen;
}

}  // namespace meterbank::test
