// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/base.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "meterbank/border/handle_table.hpp"
#include "meterbank/border/versioned.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::border {
namespace {

mb_status cross_with(mb_error* error, Error why) {
  return cross(error, [&]() -> Outcome<void> { return tl::make_unexpected(std::move(why)); });
}

TEST(StatusOfC, HasOneValueForEachErrorCodeWithItsName) {
  std::set<mb_status> seen{MB_OK, MB_BAD_HANDLE};
  for (std::uint32_t code = 0; code <= static_cast<std::uint32_t>(ErrorCode::kSystem); ++code) {
    const mb_status status = status_of(static_cast<ErrorCode>(code));
    EXPECT_TRUE(seen.insert(status).second) << code;
    EXPECT_EQ(mb_status_text(status), name_of(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(seen.size(), std::size_t{MB_SYSTEM} + 1);
  EXPECT_STREQ(mb_status_text(MB_OK), "OK");
  EXPECT_STREQ(mb_status_text(MB_BAD_HANDLE), "BAD_HANDLE");
  for (const int other : {26, 1000, 0x7fffffff}) {
    mb_status unknown;
    std::memcpy(&unknown, &other, sizeof unknown);
    EXPECT_STREQ(mb_status_text(unknown), "UNKNOWN");
  }
}

TEST(ErrorOfC, KeepsEveryPartOfTheReason) {
  mb_error error;
  EXPECT_EQ(cross_with(&error, {ErrorCode::kDenied, EACCES, "opening it", "be root"}), MB_DENIED);
  EXPECT_EQ(error.status, MB_DENIED);
  EXPECT_EQ(error.system_error, EACCES);
  EXPECT_STREQ(error.what, "opening it");
  EXPECT_STREQ(error.remedy, "be root");
  EXPECT_EQ(cross_with(nullptr, {ErrorCode::kDenied, EACCES, "opening it", "be root"}), MB_DENIED);
}

TEST(ErrorOfC, IsEmptyAfterSuccess) {
  mb_error error;
  std::memset(&error, 0x55, sizeof error);
  EXPECT_EQ(cross(&error, []() -> Outcome<void> { return {}; }), MB_OK);
  EXPECT_EQ(error.status, MB_OK);
  EXPECT_EQ(error.system_error, 0);
  EXPECT_STREQ(error.what, "");
  EXPECT_STREQ(error.remedy, "");
}

TEST(ErrorOfC, CutsLongTextsBetweenCharacters) {
  for (std::size_t before = 0; before < 5; ++before) {
    std::string text(before, 'x');
    for (int i = 0; i < 300; ++i) text += "\xe2\x82\xac";
    mb_error error;
    cross_with(&error, {ErrorCode::kSystem, 0, text, text});
    for (const std::string_view kept : {error.what, error.remedy}) {
      EXPECT_TRUE(is_valid_utf8(kept));
      EXPECT_EQ(text.compare(0, kept.size(), kept), 0);
    }
    EXPECT_GT(std::strlen(error.what) + 3, std::size_t{MB_ERROR_WHAT_SIZE} - 1);
    EXPECT_GT(std::strlen(error.remedy) + 3, std::size_t{MB_ERROR_REMEDY_SIZE} - 1);
  }
}

TEST(ErrorOfC, IsUtf8WhateverTheReasonQuotes) {
  mb_error error;
  cross_with(&error, {ErrorCode::kBadName, 0, "name '\xff\xc3('", {}});
  EXPECT_STREQ(error.what, "name '\xef\xbf\xbd\xef\xbf\xbd('");
}

TEST(Border, LetsNoExceptionThrough) {
  mb_error error;
  EXPECT_EQ(cross(&error, []() -> Outcome<void> { throw std::bad_alloc(); }), MB_NO_SPACE);
  EXPECT_STREQ(error.what, "out of memory");
  EXPECT_EQ(cross(&error, []() -> Outcome<void> { throw std::runtime_error("that"); }), MB_SYSTEM);
  EXPECT_STREQ(error.what, "that");
  EXPECT_EQ(cross(&error, []() -> Outcome<void> { throw 5; }), MB_SYSTEM);
}

TEST(VersionOfC, IsThatOfTheHeader) {
  EXPECT_EQ(mb_version() >> 16, unsigned{MB_VERSION_MAJOR});
  EXPECT_EQ(mb_version() >> 8 & 0xff, unsigned{MB_VERSION_MINOR});
  EXPECT_EQ(mb_version() & 0xff, unsigned{MB_VERSION_PATCH});
}

// A struct whose second version has one more member, with a default that is not zero.
struct Second {
  std::uint32_t size;
  std::uint32_t first;
  std::uint64_t later;
};
constexpr Second kDefaults{sizeof(Second), 1, 7};
constexpr std::size_t kFirstBytes = 8;

Outcome<Second> take(const void* given) {
  return take_versioned(static_cast<const Second*>(given), kDefaults, kFirstBytes, "second");
}

TEST(VersionedStruct, TakesAnOlderOneWithDefaultsForTheRest) {
  const std::uint32_t older[] = {8, 5};
  const auto taken = take(older);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->first, 5U);
  EXPECT_EQ(taken->later, 7U);
}

TEST(VersionedStruct, TakesANewerOneWhoseNewMembersAreZero) {
  std::uint64_t newer[4] = {};
  const Second known{sizeof newer, 5, 6};
  std::memcpy(newer, &known, sizeof known);
  const auto taken = take(newer);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->first, 5U);
  EXPECT_EQ(taken->later, 6U);
  for (std::size_t byte = sizeof(Second); byte < sizeof newer; ++byte) {
    reinterpret_cast<std::byte*>(newer)[byte] = std::byte{1};
    const auto refused = take(newer);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, MB_INVALID_ARGUMENT);
    reinterpret_cast<std::byte*>(newer)[byte] = std::byte{0};
  }
}

TEST(VersionedStruct, RefusesNullAndSizesOfNoVersion) {
  EXPECT_EQ(take(nullptr).error().status, MB_INVALID_ARGUMENT);
  for (const std::uint32_t size : {0U, 1U, 7U, 4097U, 0xffffffffU}) {
    const Second given{size, 5, 6};
    const auto refused = take(&given);
    ASSERT_FALSE(refused) << size;
    EXPECT_EQ(refused.error().status, MB_INVALID_ARGUMENT);
    EXPECT_NE(refused.error().error.what.find("second"), std::string::npos);
  }
}

struct Thing {
  int value;
};
HandleTable<Thing> things("thing");
HandleTable<std::string> names("name");

TEST(HandleTable, FindsAnObjectUntilItIsRemoved) {
  const auto number = things.insert(std::make_shared<Thing>(Thing{5}));
  EXPECT_EQ((*things.find(number))->value, 5);
  EXPECT_EQ(things.remove(number)->value, 5);
  EXPECT_EQ(things.remove(number), nullptr);
  EXPECT_EQ(things.find(number).error().status, MB_BAD_HANDLE);
}

TEST(HandleTable, NeverGivesANumberAgain) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto number = things.insert(std::make_shared<Thing>());
    EXPECT_TRUE(seen.insert(number).second);
    EXPECT_NE(things.remove(number), nullptr);
    EXPECT_TRUE(seen.insert(names.insert(std::make_shared<std::string>())).second);
  }
  EXPECT_EQ(seen.count(0), 0U);
}

TEST(HandleTable, RefusesZeroOtherTypesAndNumbersThatWereNeverGiven) {
  const auto name = names.insert(std::make_shared<std::string>("n"));
  for (const std::uint64_t number : {std::uint64_t{0}, name, name + 1000, ~std::uint64_t{0}}) {
    EXPECT_EQ(things.find(number).error().status, MB_BAD_HANDLE) << number;
    EXPECT_EQ(things.remove(number), nullptr);
  }
  EXPECT_NE(things.find(0).error().error.what.find("NULL"), std::string::npos);
}

TEST(HandleTable, TellsAChildThatAHandleIsItsParents) {
  const auto number = things.insert(std::make_shared<Thing>(Thing{5}));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refuses =
        things.find(number).error().status == MB_FORKED && things.remove(number) == nullptr;
    const auto own = things.insert(std::make_shared<Thing>(Thing{6}));
    const bool works = own > number && (*things.find(own))->value == 6 &&
                       things.find(own + 1000).error().status == MB_BAD_HANDLE;
    ::_exit(refuses && works ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ((*things.find(number))->value, 5);
}

}  // namespace
}  // namespace meterbank::border
