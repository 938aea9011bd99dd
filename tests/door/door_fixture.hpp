// SPDX-License-Identifier: Apache-2.0
//
// Providers that are reached at their door alone: a second directory has their records as a process
// of another container sees them, with a pid that means nothing here.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "../reader/catalog/catalog_fixture.hpp"
#include "../support/orders_schema.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::test {

class DoorTest : public SharedDirectoryTest {
 protected:
  DoorTest() { EXPECT_EQ(::chmod(outside_.path().c_str(), 01777), 0); }

  // Shows the provider of this record in outside(), with the same sockets.
  void show_outside(const std::string& record_path) const {
    std::ifstream file(record_path);
    std::stringstream text;
    text << file.rdbuf();
    auto record = PointerRecord::parse(text.str());
    ASSERT_TRUE(record) << record.error().message();
    record->pid = kNoPid;
    record->pid_namespace += 1;
    const std::filesystem::path inside(record_path);
    std::error_code failed;
    std::filesystem::create_symlink(inside.parent_path() / record->door,
                                    std::filesystem::path(outside()) / record->door, failed);
    ASSERT_FALSE(failed) << failed.message();
    std::ofstream(outside() + "/" + inside.filename().string()) << record->text();
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
  static constexpr std::uint32_t kNoPid = 0x7ffffff0;  // beyond what a kernel gives to processes
  TemporaryDirectory outside_;
};

}  // namespace meterbank::test
