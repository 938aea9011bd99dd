// SPDX-License-Identifier: Apache-2.0
//
// What the functions around a read promise, by the rows of docs/windows-compatibility.md.
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_fixture.hpp"

namespace meterbank::test {
namespace {

constexpr ULONG kInstanceNotFound = ERROR_WMI_INSTANCE_NOT_FOUND;
constexpr ULONG kSetNotFound = ERROR_WMI_GUID_NOT_FOUND;
constexpr Guid kMissingSet = "{00000000-1111-2222-3333-444444444444}"_guid;

using Numbers = std::map<std::uint32_t, std::uint64_t>;

class PerfConsumer : public WavesTest {};

TEST_F(PerfConsumer, CountsSetsInGuidsAndStoresNoneWhereOneIsTooMany) {
  DWORD count = 0;
  EXPECT_EQ(PerfEnumerateCounterSet(nullptr, nullptr, 0, &count), kTooSmall);
  ASSERT_EQ(count, 2U);
  GUID sets[2] = {};
  count = 0;
  EXPECT_EQ(PerfEnumerateCounterSet(nullptr, sets, 1, &count), kTooSmall);
  EXPECT_EQ(count, 2U);
  EXPECT_TRUE(sets[0] == GUID_NULL);
  EXPECT_EQ(PerfEnumerateCounterSet(nullptr, sets, 2, &count), kSuccess);
  EXPECT_TRUE(sets[0] == guid_of(kGeometric.guid));
  EXPECT_TRUE(sets[1] == guid_of(kTrigonometric.guid));
  EXPECT_EQ(PerfEnumerateCounterSet(nullptr, sets, 2, nullptr), kInvalid);
  EXPECT_EQ(PerfEnumerateCounterSet(nullptr, nullptr, 2, &count), kInvalid);
}

TEST_F(PerfConsumer, ListsASetOnceHoweverManyProvidersHaveIt) {
  Provider other = provider("more waves");
  ASSERT_TRUE(other.add(kGeometric));
  DWORD count = 0;
  PerfEnumerateCounterSet(nullptr, nullptr, 0, &count);
  EXPECT_EQ(count, 2U);
}

ULONG instances_of(const Guid& set, Bytes& bytes) {
  const GUID guid = guid_of(set);
  DWORD needed = 0;
  ULONG error =
      meterbank_utf16_PerfEnumerateCounterSetInstances(nullptr, &guid, nullptr, 0, &needed);
  if (error != kTooSmall) return error;
  bytes.resize(needed);
  error = meterbank_utf16_PerfEnumerateCounterSetInstances(
      nullptr, &guid, reinterpret_cast<PPERF_INSTANCE_HEADER>(bytes.data()), needed, &needed);
  return error;
}

TEST_F(PerfConsumer, EnumeratesInstancesAndReportsAnEmptyList) {
  Bytes bytes;
  ASSERT_EQ(instances_of(kGeometric.guid, bytes), kSuccess);
  InstanceWalker walker(bytes);
  std::vector<std::string> names;
  while (const auto instance = walker.next()) names.push_back(instance->name.utf8());
  EXPECT_EQ(walker.fault(), BlockFault::kNone);
  EXPECT_EQ(names, (std::vector<std::string>{"Small Wave", "Medium Wave", "Large Wave"}));
  waves_.clear();
  EXPECT_EQ(instances_of(kGeometric.guid, bytes), kInstanceNotFound);
  EXPECT_EQ(instances_of(kMissingSet, bytes), kSetNotFound);
}

TEST_F(PerfConsumer, ShowsASingleInstanceAsOneRowWithoutAName) {
  Bytes bytes;
  ASSERT_EQ(instances_of(kTrigonometric.guid, bytes), kSuccess);
  EXPECT_EQ(bytes.size(), 16U);
  InstanceWalker walker(bytes);
  const auto instance = walker.next();
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->name.utf8(), "");
  EXPECT_FALSE(walker.next());
}

ULONG describe(const Guid& set, DWORD request, DWORD detail, Bytes& bytes) {
  const GUID guid = guid_of(set);
  DWORD needed = 0;
  const auto type = static_cast<PerfRegInfoType>(request);
  const ULONG error = meterbank_utf16_PerfQueryCounterSetRegistrationInfo(
      nullptr, &guid, type, detail, nullptr, 0, &needed);
  if (error != kTooSmall) return error;
  bytes.resize(needed);
  return meterbank_utf16_PerfQueryCounterSetRegistrationInfo(
      nullptr, &guid, type, detail, reinterpret_cast<LPBYTE>(bytes.data()), needed, &needed);
}

TEST_F(PerfConsumer, KnowsTenRequestsAndRefusesOthers) {
  Bytes bytes;
  for (DWORD request = 1; request <= 10; ++request) {
    EXPECT_EQ(describe(kGeometric.guid, request, request == 2 ? 1 : 0, bytes), kSuccess) << request;
  }
  for (const DWORD request : {0U, 11U, 0x80000000U, 0xffffffffU}) {
    EXPECT_EQ(describe(kGeometric.guid, request, 0, bytes), kInvalid) << request;
  }
  EXPECT_EQ(describe(kMissingSet, 1, 0, bytes), kSetNotFound);
}

TEST_F(PerfConsumer, FindsACounterByAnIdThatMayBeZero) {
  static constexpr std::array kCounters{
      CounterSpec{.id = 0, .name = "Nothing", .symbol = "nothing"},
      CounterSpec{.id = 9,
                  .name = "Share",
                  .symbol = "share",
                  .type = CounterType::kAverageBulk,
                  .base = 10},
      CounterSpec{.id = 10, .type = CounterType::kAverageBase}};
  const CountersetSpec ids{.name = "Ids", .symbol = "ids", .counters = kCounters};
  ASSERT_TRUE(provider_.add(ids));
  const Guid guid = Guid::from_name("waves", "Ids");
  Bytes bytes;
  ASSERT_EQ(describe(guid, PERF_REG_COUNTER_STRUCT, 0, bytes), kSuccess);
  EXPECT_EQ(bytes.size(), 48U);
  EXPECT_EQ(describe(guid, PERF_REG_COUNTER_STRUCT, 1, bytes), static_cast<ULONG>(ERROR_NOT_FOUND));
  ASSERT_EQ(describe(guid, PERF_REG_COUNTER_STRUCT, 9, bytes), kSuccess);
  PERF_COUNTER_REG_INFO counter;
  std::memcpy(&counter, bytes.data(), sizeof counter);
  EXPECT_EQ(counter.BaseCounterId, 10U);
  EXPECT_EQ(counter.PerfTimeId, 0xffffffffU);
  // The base has no name, and the block says so.
  ASSERT_EQ(describe(guid, PERF_REG_COUNTER_NAME_STRINGS, 0, bytes), kSuccess);
  StringWalker strings(bytes);
  EXPECT_EQ(strings.next()->text->utf8(), "Nothing");
  EXPECT_EQ(strings.next()->text->utf8(), "Share");
  const auto base = strings.next();
  ASSERT_TRUE(base);
  EXPECT_EQ(base->counter, 10U);
  EXPECT_FALSE(base->text);
  EXPECT_FALSE(strings.next());
  EXPECT_EQ(strings.fault(), BlockFault::kNone);
}

TEST_F(PerfConsumer, RefusesIdentifiersThatCannotBeToldApart) {
  const Handle handle;
  const Bytes good = identifier({.counter = 1});
  const auto add = [&](Bytes bytes, std::size_t count) {
    const ULONG error =
        PerfAddCounters(handle.get(), as_identifiers(bytes), static_cast<DWORD>(count));
    if (bytes.size() >= 40 && count >= 40) {
      EXPECT_EQ(status_of(bytes), error);
    }
    return error;
  };
  const auto with_size = [&](ULONG size) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + offsetof(PERF_COUNTER_IDENTIFIER, Size), &size, sizeof size);
    return bytes;
  };
  EXPECT_EQ(add(good, 0), kInvalid);
  EXPECT_EQ(add(good, 39), kInvalid);
  for (const ULONG size : {0U, 8U, 39U, 41U, 44U, 47U, 56U, 0xfffffff8U, 0xffffffffU}) {
    EXPECT_EQ(add(with_size(size), good.size()), kInvalid) << size;
  }
  Bytes without_nul = good;
  for (std::size_t at = 40; at < without_nul.size(); ++at) without_nul[at] = std::byte{'x'};
  EXPECT_EQ(add(without_nul, without_nul.size()), kInvalid);
  EXPECT_EQ(PerfAddCounters(handle.get(), nullptr, 48), kInvalid);
  EXPECT_EQ(handle.list().size(), 0U);
}

TEST_F(PerfConsumer, AddsNothingOfASequenceThatEndsBadly) {
  const Handle handle;
  Bytes bytes = identifier({.counter = 1}) + identifier({.counter = 2});
  const ULONG size = 40 + 16;  // beyond the end
  std::memcpy(bytes.data() + 48 + offsetof(PERF_COUNTER_IDENTIFIER, Size), &size, sizeof size);
  EXPECT_EQ(PerfAddCounters(handle.get(), as_identifiers(bytes), 96), kInvalid);
  EXPECT_EQ(status_of(bytes, 48), kInvalid);
  EXPECT_EQ(handle.list().size(), 0U);
}

TEST_F(PerfConsumer, GivesEachIdentifierItsOwnStatus) {
  Handle handle;
  Bytes bytes = identifier({.counter = 1}) + identifier({.counter = 77}) +
                identifier({.set = kMissingSet}) + identifier({.pattern = u""}) +
                identifier({.counter = 2});
  ASSERT_EQ(PerfAddCounters(handle.get(), as_identifiers(bytes), static_cast<DWORD>(bytes.size())),
            kSuccess);
  EXPECT_EQ(status_of(bytes, 0), kSuccess);
  EXPECT_EQ(status_of(bytes, 48), static_cast<ULONG>(ERROR_NOT_FOUND));
  EXPECT_EQ(status_of(bytes, 96), kSetNotFound);
  EXPECT_EQ(status_of(bytes, 144), kInvalid);
  EXPECT_EQ(status_of(bytes, 184), kSuccess);
  EXPECT_EQ(seen(handle).size(), 2U);
}

TEST_F(PerfConsumer, WantsNoNameForASetOfOneAndSomeForASetOfMany) {
  Handle handle;
  EXPECT_EQ(handle.add({kTrigonometric.guid, u""}), kSuccess);
  EXPECT_EQ(handle.add({kTrigonometric.guid, u"*"}), kInvalid);
  EXPECT_EQ(handle.add({kTrigonometric.guid, u"x"}), kInvalid);
  EXPECT_EQ(handle.add({kGeometric.guid, u""}), kInvalid);
  // An empty name that takes up room is lenient, as Windows documents both.
  Bytes roomy = identifier({kTrigonometric.guid, u""});
  roomy.resize(48);
  const ULONG size = 48;
  std::memcpy(roomy.data() + offsetof(PERF_COUNTER_IDENTIFIER, Size), &size, sizeof size);
  EXPECT_EQ(PerfAddCounters(handle.get(), as_identifiers(roomy), 48), kSuccess);
  EXPECT_EQ(status_of(roomy), kSuccess);
}

TEST_F(PerfConsumer, RefusesNamesTooLongAndNamesThatAreNoText) {
  Handle handle;
  EXPECT_EQ(handle.add({.pattern = std::u16string(1023, u'*')}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows.size(), 3U);
  EXPECT_EQ(handle.add({.pattern = std::u16string(1024, u'*')}), kInvalid);
  EXPECT_EQ(handle.add({.pattern = {u'a', char16_t{0xd800}, u'b'}}), kInvalid);
}

TEST_F(PerfConsumer, MatchesWildcardsWithoutRegardToCase) {
  const auto rows = [&](const std::u16string& pattern) {
    Handle handle;
    EXPECT_EQ(handle.add({.pattern = pattern, .counter = 1}), kSuccess);
    std::string names;
    const auto blocks = seen(handle);
    for (const auto& [name, values] : blocks[0].rows) names += name.substr(0, 1);
    return names;
  };
  EXPECT_EQ(rows(u"*"), "LMS");
  EXPECT_EQ(rows(u"*ll wave"), "S");
  EXPECT_EQ(rows(u"?arge*"), "L");
  EXPECT_EQ(rows(u"S*E"), "S");
  EXPECT_EQ(rows(u"*M*"), "MS");
  EXPECT_EQ(rows(u"?????? wave"), "M");
  EXPECT_EQ(rows(u"?"), "");
}

TEST_F(PerfConsumer, TakesCharactersOfPathsForCharactersInNames) {
  const std::vector<std::string> odd{"a\\b", "a/b", "x#3", "(y)", "c[1]", ":d@4", "*e"};
  std::vector<Instance> instances;
  for (const auto& name : odd) instances.push_back(*geometric_.create_instance(name));
  for (std::size_t index = 0; index < odd.size(); ++index) {
    instances[index].set(0, 1000 + index);
    Handle handle;
    std::u16string pattern;
    for (const char c : odd[index]) pattern += static_cast<char16_t>(c == '*' ? '?' : c);
    ASSERT_EQ(handle.add({.pattern = pattern, .counter = 1}), kSuccess);
    const auto blocks = seen(handle);
    ASSERT_EQ(blocks[0].rows.size(), 1U) << odd[index];
    EXPECT_EQ(blocks[0].rows.begin()->second, (Numbers{{0, 1000 + index}})) << odd[index];
  }
}

TEST_F(PerfConsumer, FiltersByNameAndId) {
  const auto rows = [&](const std::u16string& pattern, std::uint32_t id) {
    Handle handle;
    EXPECT_EQ(handle.add({.pattern = pattern, .instance = id}), kSuccess);
    return seen(handle)[0].rows.size();
  };
  EXPECT_EQ(rows(u"*", 1), 1U);
  EXPECT_EQ(rows(u"Medium*", 1), 1U);
  EXPECT_EQ(rows(u"Small*", 1), 0U);
  EXPECT_EQ(rows(u"*", 99), 0U);
  EXPECT_EQ(rows(u"Medium Wave", 1), 1U);
  EXPECT_EQ(rows(u"Medium Wave", 2), 0U);
}

TEST_F(PerfConsumer, NumbersIdentifiersByTheirBlock) {
  Handle handle;
  ASSERT_EQ(handle.add({.counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.counter = 2}), kSuccess);
  ASSERT_EQ(handle.add({kTrigonometric.guid, u"", 3}), kSuccess);
  ASSERT_EQ(handle.remove({.pattern = u"*", .counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.pattern = u"Small Wave", .counter = 1}), kSuccess);
  const auto blocks = seen(handle);
  const Bytes list = handle.list();
  IdentifierWalker walker(list);
  std::uint32_t count = 0;
  while (const auto item = walker.next()) {
    EXPECT_EQ(item->header.index, count++);
    ASSERT_LT(item->header.index, blocks.size());
    const std::uint64_t any = blocks[item->header.index].rows.begin()->second.at(0);
    const bool is_constant = item->header.set == kTrigonometric.guid;
    EXPECT_EQ(any, is_constant ? 102U : item->header.counter == 2 ? 32U : 11U);
  }
  EXPECT_EQ(walker.fault(), BlockFault::kNone);
  EXPECT_EQ(count, 3U);
}

TEST_F(PerfConsumer, DeletesWhatMatchesInAllFourParts) {
  Handle handle;
  ASSERT_EQ(handle.add({.pattern = u"Small*", .counter = 1, .instance = 0}), kSuccess);
  const auto not_found = static_cast<ULONG>(ERROR_NOT_FOUND);
  EXPECT_EQ(handle.remove({.pattern = u"Small*", .counter = 2, .instance = 0}), not_found);
  EXPECT_EQ(handle.remove({.pattern = u"Small*", .counter = 1}), not_found);
  EXPECT_EQ(handle.remove({.pattern = u"*", .counter = 1, .instance = 0}), not_found);
  EXPECT_EQ(handle.remove({kTrigonometric.guid, u"Small*", 1, 0}), not_found);
  EXPECT_EQ(handle.remove({.pattern = u"SMALL*", .counter = 1, .instance = 0}), kSuccess);
  EXPECT_EQ(handle.list().size(), 0U);
  EXPECT_EQ(handle.read().size(), 48U);
}

TEST_F(PerfConsumer, GivesDuplicatesABlockEachAndDeletesThemTogether) {
  Handle handle;
  ASSERT_EQ(handle.add({.counter = 1}), kSuccess);
  ASSERT_EQ(handle.add({.counter = 1}), kSuccess);
  const auto blocks = seen(handle);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].rows, blocks[1].rows);
  EXPECT_EQ(handle.remove({.counter = 1}), kSuccess);
  EXPECT_EQ(handle.list().size(), 0U);
}

TEST_F(PerfConsumer, KnowsItsHandles) {
  HANDLE query = nullptr;
  ASSERT_EQ(PerfOpenQueryHandle(nullptr, &query), kSuccess);
  DWORD needed = 0;
  const auto bad = static_cast<ULONG>(ERROR_INVALID_HANDLE);
  for (HANDLE wrong : {HANDLE{nullptr}, INVALID_HANDLE_VALUE, HANDLE{&needed}}) {
    EXPECT_EQ(PerfQueryCounterData(wrong, nullptr, 0, &needed), bad);
    EXPECT_EQ(PerfQueryCounterInfo(wrong, nullptr, 0, &needed), bad);
    EXPECT_EQ(PerfAddCounters(wrong, nullptr, 0), bad);
    EXPECT_EQ(PerfDeleteCounters(wrong, nullptr, 0), bad);
    EXPECT_EQ(PerfCloseQueryHandle(wrong), bad);
  }
  EXPECT_EQ(PerfQueryCounterData(query, nullptr, 0, nullptr), kInvalid);
  EXPECT_EQ(PerfQueryCounterData(query, nullptr, 100, &needed), kInvalid);
  EXPECT_EQ(PerfCloseQueryHandle(query), kSuccess);
  EXPECT_EQ(PerfCloseQueryHandle(query), bad);
  EXPECT_EQ(PerfOpenQueryHandle(nullptr, nullptr), kInvalid);
}

TEST_F(PerfConsumer, SpeaksOfThisMachineOnly) {
  HANDLE query = nullptr;
  for (const wchar_t* name : {L"", L".", L"localhost", L"\\\\LOCALHOST"}) {
    EXPECT_EQ(PerfOpenQueryHandle(name, &query), kSuccess);
    PerfCloseQueryHandle(query);
  }
  EXPECT_EQ(PerfOpenQueryHandle(L"elsewhere.example", &query),
            static_cast<ULONG>(RPC_S_SERVER_UNAVAILABLE));
  EXPECT_EQ(query, nullptr);
  const std::wstring endless(100'000, L'x');
  EXPECT_EQ(PerfOpenQueryHandle(endless.c_str(), &query),
            static_cast<ULONG>(RPC_S_SERVER_UNAVAILABLE));
}

TEST_F(PerfConsumer, ShowsASingleAggregateAsOneRow) {
  CountersetSpec spec = kGeometric;
  spec.name = "Shared";
  spec.symbol = "shared";
  spec.guid = "{9b3b8b0e-7d6a-4b51-8a0b-5d2b6a6f1c11}"_guid;
  spec.instances = InstanceKind::kGlobalAggregate;
  Provider other = provider("more waves");
  Instance one = *provider_.add(spec)->create_instance("");
  Instance two = *other.add(spec)->create_instance("");
  one.set(0, 5);
  two.set(0, 6);
  Handle handle;
  ASSERT_EQ(handle.add({spec.guid, u"", 1}), kSuccess);
  EXPECT_EQ(seen(handle)[0].rows, (Rows{{"", {{0, 11}}}}));
  Bytes bytes;
  ASSERT_EQ(instances_of(spec.guid, bytes), kSuccess);
  EXPECT_EQ(bytes.size(), 16U);
}

// A stranger's view of this process's provider.
ULONG status_for_a_stranger(const std::string& directory) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    constexpr uid_t kOtherUser = 65534;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kOtherUser, kOtherUser, kOtherUser) != 0 ||
        ::setresuid(kOtherUser, kOtherUser, kOtherUser) != 0) {
      ::_exit(255);
    }
    ::setenv("METERBANK_DIR", directory.c_str(), 1);
    Bytes bytes;
    Handle handle;
    const ULONG added = handle.add({});
    ::_exit(static_cast<int>(describe(kGeometric.guid, 1, 0, bytes) == added ? added : 254));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? static_cast<ULONG>(WEXITSTATUS(status)) : 253;
}

TEST_F(PerfConsumer, ReportsDeniedAccessAndNotAMissingSet) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  EXPECT_EQ(status_for_a_stranger(directory_.path()), static_cast<ULONG>(ERROR_ACCESS_DENIED));
}

}  // namespace
}  // namespace meterbank::test
