// SPDX-License-Identifier: Apache-2.0
//
// One memory is one provider, however many records point at it.
#include "../../support/orders_schema.hpp"
#include "../../support/sample_words.hpp"
#include "catalog_fixture.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank {
namespace {

using test::state_of;
using test::states_of;
using test::Venue;

class CatalogMemory : public test::SharedDirectoryTest {
 protected:
  // Another record of the same memory.
  void repeat(const Provider& provider, const std::string& file) const {
    std::ifstream original(provider.record());
    const std::string text((std::istreambuf_iterator<char>(original)), {});
    write_file(file, text);
  }
  static std::uint64_t repeated(const Catalog& catalog) {
    std::uint64_t count = 0;
    for (const LeftOut& each : catalog.left_out()) {
      if (each.reason == LeftOutReason::kSameMemory) count += each.count;
    }
    return count;
  }
};

TEST_F(CatalogMemory, IsCountedOnceHoweverManyRecordsPointAtIt) {
  Provider provider = *Provider::create({.name = "orders", .directory = directory_.path()});
  const Registration venues = *provider.add(test::kOrders);
  Instance eu = *venues.create_instance("eu");
  eu.add(Venue::kAccepted, 42);
  for (int i = 0; i < 5; ++i) repeat(provider, "copy" + std::to_string(i) + ".provider");
  Catalog catalog = open();
  EXPECT_EQ(states_of(catalog), (std::map<std::string, int>{{"live", 1}}));
  EXPECT_EQ(repeated(catalog), 5U);
  Query query = *Query::compile(catalog, {"demo_orders/*/accepted"});
  Sample sample;
  query.collect(sample);
  EXPECT_EQ(content_of(sample).status.size(), 1U);
  const std::uint64_t version = catalog.version();
  catalog.refresh();
  EXPECT_EQ(catalog.version(), version);
  EXPECT_EQ(repeated(catalog), 5U);
}

TEST_F(CatalogMemory, KeepsItsProviderWhenTheFirstRecordIsRemoved) {
  auto provider = Provider::create({.name = "orders", .directory = directory_.path()});
  repeat(*provider, "copy.provider");
  Catalog catalog = open();
  for (const char* name : {"copy.provider", ""}) {
    const std::string path = *name == '\0' ? provider->record() : directory_.path() + "/" + name;
    ::unlink(path.c_str());
    catalog.refresh();
    EXPECT_EQ(states_of(catalog), (std::map<std::string, int>{{"live", 1}})) << path;
  }
}

TEST_F(CatalogMemory, AThousandRecordsOfOneMemoryHideNoOtherProvider) {
  Provider provider = *Provider::create({.name = "orders", .directory = directory_.path()});
  for (int i = 0; i < 3000; ++i) repeat(provider, "copy" + std::to_string(i) + ".provider");
  start_providers("healthy", 3);
  Catalog catalog = open();
  EXPECT_EQ(states_of(catalog), (std::map<std::string, int>{{"live", 4}}));
  start_providers("later", 1);
  catalog.refresh();
  EXPECT_EQ(states_of(catalog), (std::map<std::string, int>{{"live", 5}}));
}

}  // namespace
}  // namespace meterbank
