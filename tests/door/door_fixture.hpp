// SPDX-License-Identifier: Apache-2.0
//
// Providers that are reached at their door alone: a second directory has their records as a process
// of another container sees them, with a pid that means nothing here.
#pragma once

#include <filesystem>
#include <string>

#include "../reader/catalog/catalog_fixture.hpp"
#include "../support/orders_schema.hpp"
#include "../support/outside_record.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {

class DoorTest : public SharedDirectoryTest {
 protected:
  DoorTest() { EXPECT_EQ(::chmod(outside_.path().c_str(), 01777), 0); }

  // Shows the provider of this record in outside(), with the same sockets.
  void show_outside(const std::string& record_path) const {
    ASSERT_TRUE(test::show_outside(record_path, outside()));
  }
  void show_all_outside() const {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().extension() == kPointerRecordSuffix) show_outside(entry.path().string());
    }
  }

  [[nodiscard]] const std::string& outside() const { return outside_.path(); }
  [[nodiscard]] Catalog open_outside() const { return *Catalog::open({.directory = outside()}); }

  static const ProviderView& only(const Catalog& catalog) {
    EXPECT_EQ(catalog.providers().size(), 1U);
    return *catalog.providers().at(0);
  }
  static std::size_t instances_of(const ProviderView& provider) {
    std::size_t count = 0;
    for (const RegisteredSet& set : provider.sets) count += set.instances.size();
    return count;
  }

 private:
  TemporaryDirectory outside_;
};

}  // namespace meterbank::test
