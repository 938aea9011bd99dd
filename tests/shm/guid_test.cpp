// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/guid.hpp"

#include <gtest/gtest.h>

namespace meterbank {
namespace {

TEST(Guid, RoundTripsThroughItsText) {
  constexpr Guid guid = "{b4fc721a-0378-476f-89ba-a5a79f810b36}"_guid;
  EXPECT_EQ(guid.part1, 0xb4fc721aU);
  EXPECT_EQ(guid.part4[7], 0x36);
  EXPECT_EQ(guid.text(), "{b4fc721a-0378-476f-89ba-a5a79f810b36}");
  EXPECT_EQ(Guid::parse("B4FC721A-0378-476F-89BA-A5A79F810B36"), guid);
}

TEST(Guid, RefusesMalformedText) {
  for (const char* text :
       {"", "{}", "b4fc721a-0378-476f-89ba-a5a79f810b3", "{b4fc721a}",
        "b4fc721a 0378-476f-89ba-a5a79f810b36", "{b4fc721a-0378-476f-89ba-a5a79f810b3g}"}) {
    EXPECT_FALSE(Guid::parse(text)) << text;
  }
}

TEST(Guid, FromNameIsStableAndDependsOnBothNames) {
  const Guid guid = Guid::from_name("orders", "Venue");
  EXPECT_EQ(guid, Guid::from_name("orders", "Venue"));
  EXPECT_NE(guid, Guid::from_name("order", "sVenue"));
  EXPECT_EQ(guid.part3 >> 12, 5);  // version 5
}

}  // namespace
}  // namespace meterbank
