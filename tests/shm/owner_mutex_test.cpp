// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/owner_mutex.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace meterbank {
namespace {

TEST(OwnerMutex, IsMarkedWhenItsThreadEndsWithoutReleasingIt) {
  alignas(kCacheLine) static OwnerMutexWords words{};  // of this test alone
  EXPECT_FALSE(has_owner_died(words));
  std::thread([] {
    hold_owner_mutex(words);
    EXPECT_FALSE(has_owner_died(words));
  }).join();
  EXPECT_TRUE(has_owner_died(words));
}

TEST(OwnerMutex, IsNotMarkedAfterAnOrderlyEnd) {
  alignas(kCacheLine) static OwnerMutexWords words{};  // of this test alone
  std::thread([] {
    hold_owner_mutex(words);
    release_owner_mutex(words);
  }).join();
  EXPECT_FALSE(has_owner_died(words));
}

}  // namespace
}  // namespace meterbank
