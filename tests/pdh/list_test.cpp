// SPDX-License-Identifier: Apache-2.0
//
// What there is: machines, objects, their items, wildcards, validation.
#include "meterbank/base/machine_name.hpp"
#include "pdh_fixture.hpp"

namespace meterbank::test {
namespace {

using Strings = std::vector<std::string>;

class PdhLists : public DisksTest {
 protected:
  [[nodiscard]] static std::string here(const std::string& path) {
    return "\\\\" + machine_name() + path;
  }
};

// A list by the two calls that programs make, and one with a character too few between them.
template <typename F>
PDH_STATUS fetch(F&& call, Strings& strings) {
  DWORD characters = 0;
  PDH_STATUS status = call(nullptr, &characters);
  if (status != PDH_MORE_DATA) return status;
  std::vector<char> list(characters + 1, 'x');
  DWORD too_few = characters - 1;
  EXPECT_EQ(call(list.data(), &too_few), PDH_MORE_DATA);
  EXPECT_EQ(list[0], 'x');
  DWORD more = characters + 1;
  status = call(list.data(), &more);
  EXPECT_EQ(more, characters);
  EXPECT_EQ(list[characters - 2], '\0');
  EXPECT_EQ(list[characters - 1], '\0');
  strings = strings_of(list.data());
  return status;
}

PDH_STATUS expand(const char* path, Strings& paths, DWORD flags = 0) {
  return fetch(
      [&](LPSTR list, LPDWORD size) {
        return PdhExpandWildCardPathA(nullptr, path, list, size, flags);
      },
      paths);
}

TEST_F(PdhLists, HaveThisMachineOnly) {
  Strings machines;
  ASSERT_EQ(fetch([](LPSTR list, LPDWORD size) { return PdhEnumMachinesA(nullptr, list, size); },
                  machines),
            kDone);
  EXPECT_EQ(machines, Strings{here("")});
  for (const char* const machine :
       {static_cast<const char*>(nullptr), "", ".", "localhost", machines[0].c_str()}) {
    EXPECT_EQ(PdhConnectMachineA(machine), kDone);
  }
  EXPECT_EQ(PdhConnectMachineA("\\\\elsewhere"), PDH_CSTATUS_NO_MACHINE);
  EXPECT_EQ(PdhConnectMachineA(std::string(300, 'x').c_str()), PDH_CSTATUS_NO_MACHINE);
}

PDH_STATUS objects(const char* machine, DWORD detail, Strings& names) {
  return fetch(
      [&](LPSTR list, LPDWORD size) {
        return PdhEnumObjectsA(nullptr, machine, list, size, detail, FALSE);
      },
      names);
}

TEST_F(PdhLists, OfObjectsHaveEachSetOnce) {
  Provider other = provider("more disks");
  Registration more = *other.add(kDisks);
  Strings names;
  ASSERT_EQ(objects(nullptr, PERF_DETAIL_WIZARD, names), kDone);
  EXPECT_EQ(names, (Strings{"Test Clock", "Test Disks"}));
  EXPECT_EQ(objects("elsewhere", PERF_DETAIL_WIZARD, names), PDH_CSTATUS_NO_MACHINE);
  ASSERT_EQ(objects(nullptr, 0, names), kDone);
  EXPECT_EQ(names, Strings()) << "no counter has so little detail";
}

struct Items {
  PDH_STATUS status = 0;
  Strings counters, instances;
};
Items items(const char* object, DWORD detail = PERF_DETAIL_WIZARD) {
  DWORD counters_size = 0, instances_size = 0;
  Items found;
  found.status = PdhEnumObjectItemsA(nullptr, nullptr, object, nullptr, &counters_size, nullptr,
                                     &instances_size, detail, 0);
  if (found.status != PDH_MORE_DATA) return found;
  std::vector<char> counters(counters_size + 1), instances(instances_size + 1);
  found.status = PdhEnumObjectItemsA(nullptr, nullptr, object, counters.data(), &counters_size,
                                     instances.data(), &instances_size, detail, 0);
  found.counters = strings_of(counters.data());
  if (instances_size != 0) found.instances = strings_of(instances.data());
  return found;
}

TEST_F(PdhLists, OfItemsHaveCountersAndInstances) {
  Provider other = provider("more disks");
  Registration more = *other.add(kDisks);
  Instance namesake = *more.create_instance("sda");
  const Items disks = items("test disks");
  EXPECT_EQ(disks.status, kDone);
  EXPECT_EQ(disks.counters, (Strings{"Reads/sec", "Queue Length", "Avg. Bytes/Read", "% Busy",
                                     "Temperature", "Retries"}));
  Strings sorted = disks.instances;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (Strings{"sda", "sda", "sdb"})) << "a name as often as there are instances";
  EXPECT_EQ(items("Test Disks", PERF_DETAIL_NOVICE).counters.size(), 5U);
  const Items clock = items("Test Clock");
  EXPECT_EQ(clock.counters, Strings{"Ticks"});
  EXPECT_EQ(clock.instances, Strings());
  EXPECT_EQ(items("Tapes").status, PDH_CSTATUS_NO_OBJECT);
}

TEST_F(PdhLists, OfItemsNeedTheirArguments) {
  DWORD counters = 0, instances = 0;
  EXPECT_EQ(PdhEnumObjectItemsA(nullptr, nullptr, nullptr, nullptr, &counters, nullptr, &instances,
                                PERF_DETAIL_WIZARD, 0),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhEnumObjectItemsA(nullptr, nullptr, "Test Clock", nullptr, nullptr, nullptr,
                                &instances, PERF_DETAIL_WIZARD, 0),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhEnumObjectItemsA(nullptr, nullptr, "Test Clock", nullptr, &counters, nullptr,
                                nullptr, PERF_DETAIL_WIZARD, 0),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhEnumObjectItemsA(nullptr, nullptr, "Test Clock", nullptr, &counters, nullptr,
                                &instances, PERF_DETAIL_WIZARD, 1),
            PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhEnumObjectItemsA(nullptr, "elsewhere", "Test Clock", nullptr, &counters, nullptr,
                                &instances, PERF_DETAIL_WIZARD, 0),
            PDH_CSTATUS_NO_MACHINE);
}

TEST_F(PdhLists, ExpandWildcardsInInstancesAndCounters) {
  Strings paths;
  ASSERT_EQ(expand("\\Test Disks(*)\\Reads/sec", paths), kDone);
  EXPECT_EQ(paths,
            (Strings{here("\\Test Disks(sda)\\Reads/sec"), here("\\Test Disks(sdb)\\Reads/sec")}));
  ASSERT_EQ(expand("\\test disks(*B)\\*length", paths), kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Disks(sdb)\\Queue Length")});
  ASSERT_EQ(expand("\\Test Clock\\*", paths), kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Clock\\Ticks")});
  ASSERT_EQ(expand("\\Test*\\*", paths), kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Clock\\Ticks")}) << "objects that have no instances";
  ASSERT_EQ(expand("\\Test Disks(sda)\\Reads/sec", paths), kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Disks(sda)\\Reads/sec")});
  ASSERT_EQ(expand("\\Test Disks(x*)\\Reads/sec", paths), kDone);
  EXPECT_EQ(paths, Strings());
}

TEST_F(PdhLists, ExpandToPathsThatCanBeAdded) {
  Provider other = provider("more disks");
  Registration more = *other.add(kDisks);
  Instance namesake = *more.create_instance("sda");
  Instance parted = *more.create_instance("raid/sdc");
  Instance marked = *more.create_instance("sdd#1");
  Strings paths;
  ASSERT_EQ(expand("\\Test Disks(*)\\Queue Length", paths), kDone);
  ASSERT_EQ(paths.size(), 5U);
  OpenQuery query;
  std::vector<PDH_HCOUNTER> counters;
  for (const std::string& path : paths) counters.push_back(query.add(path.c_str()));
  ASSERT_EQ(query.collect(), kDone);
  for (const PDH_HCOUNTER counter : counters) EXPECT_EQ(formatted(counter).result, kDone);
  ASSERT_EQ(expand("\\Test Disks(sda#1)\\Queue Length", paths), kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Disks(sda#1)\\Queue Length")});
  ASSERT_EQ(expand("\\Test Disks(raid/*)\\Queue Length", paths), kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Disks(raid/sdc)\\Queue Length")});
}

TEST_F(PdhLists, KeepTheWildcardsThatAreToBeKept) {
  Strings paths;
  ASSERT_EQ(expand("\\Test Disks(*)\\*y", paths, PDH_NOEXPANDINSTANCES), kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Disks(*)\\% Busy")});
  ASSERT_EQ(expand("\\Test Disks(sd*)\\*", paths, PDH_NOEXPANDCOUNTERS | PDH_REFRESHCOUNTERS),
            kDone);
  EXPECT_EQ(paths, (Strings{here("\\Test Disks(sda)\\*"), here("\\Test Disks(sdb)\\*")}));
}

TEST_F(PdhLists, AnswerEachWildcardPathWithItsCode) {
  Strings paths;
  EXPECT_EQ(expand("Test Disks", paths), PDH_INVALID_PATH);
  EXPECT_EQ(expand("\\Test Clock(*)\\Ticks", paths), PDH_INVALID_PATH);
  EXPECT_EQ(expand("\\Test Disks\\*", paths), PDH_INVALID_PATH);
  EXPECT_EQ(expand("\\Tapes(*)\\*", paths), PDH_CSTATUS_NO_OBJECT);
  EXPECT_EQ(expand("\\Tape*(*)\\*", paths), PDH_CSTATUS_NO_OBJECT);
  EXPECT_EQ(expand("\\Test Disks(*)\\Writes*", paths), PDH_CSTATUS_NO_COUNTER);
  EXPECT_EQ(expand("\\\\elsewhere\\Test Disks(*)\\*", paths), PDH_CSTATUS_NO_MACHINE);
  EXPECT_EQ(expand("\\Test Disks(*)\\*", paths, 8), PDH_INVALID_ARGUMENT);
  DWORD size = 0;
  EXPECT_EQ(PdhExpandWildCardPathA(nullptr, nullptr, nullptr, &size, 0), PDH_INVALID_ARGUMENT);
  EXPECT_EQ(PdhExpandWildCardPathA(nullptr, "\\a\\b", nullptr, nullptr, 0), PDH_INVALID_ARGUMENT);
  ASSERT_EQ(
      fetch([](LPSTR list,
               LPDWORD room) { return PdhExpandCounterPathA("\\Test Disks(sda)\\*y", list, room); },
            paths),
      kDone);
  EXPECT_EQ(paths, Strings{here("\\Test Disks(sda)\\% Busy")});
}

TEST_F(PdhLists, KnowNoLogs) {
  DWORD size = 0, other = 0;
  EXPECT_EQ(PdhEnumMachinesA("disks.csv", nullptr, &size), PDH_INVALID_DATASOURCE);
  EXPECT_EQ(PdhEnumObjectsA("disks.csv", nullptr, nullptr, &size, PERF_DETAIL_WIZARD, TRUE),
            PDH_INVALID_DATASOURCE);
  EXPECT_EQ(PdhEnumObjectItemsA("disks.csv", nullptr, "Test Clock", nullptr, &size, nullptr, &other,
                                PERF_DETAIL_WIZARD, 0),
            PDH_INVALID_DATASOURCE);
  EXPECT_EQ(PdhExpandWildCardPathA("disks.csv", "\\a\\b", nullptr, &size, 0),
            PDH_INVALID_DATASOURCE);
}

TEST_F(PdhLists, ValidatePaths) {
  const std::map<const char*, PDH_STATUS> codes{
      {"\\Test Disks(sda)\\Reads/sec", kDone},
      {"\\Test Disks(*)\\Reads/sec", kDone},
      {"\\Test Clock\\Ticks", kDone},
      {"\\Test Disks(sdc)\\Reads/sec", PDH_CSTATUS_NO_INSTANCE},
      {"\\Test Disks(sda#1)\\Reads/sec", PDH_CSTATUS_NO_INSTANCE},
      {"\\Test Disks(sda)\\Writes/sec", PDH_CSTATUS_NO_COUNTER},
      {"\\Tapes(sda)\\Reads/sec", PDH_CSTATUS_NO_OBJECT},
      {"\\\\elsewhere\\Test Clock\\Ticks", PDH_CSTATUS_NO_MACHINE},
      {"Test Clock", PDH_CSTATUS_BAD_COUNTERNAME},
      {"\\Test Disks\\Reads/sec", PDH_INVALID_PATH}};
  for (const auto& [path, code] : codes) EXPECT_EQ(PdhValidatePathA(path), code) << path;
  for (const auto& [path, code] : codes) EXPECT_EQ(PdhValidatePathExA(nullptr, path), code) << path;
  EXPECT_EQ(PdhValidatePathA(nullptr), PDH_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace meterbank::test
