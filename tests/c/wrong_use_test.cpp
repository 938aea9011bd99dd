// SPDX-License-Identifier: Apache-2.0
//
// What C callers pass by mistake: NULL, sizes and versions of nothing, handles that are closed, of
// another type or of a parent, text that is not UTF-8. Each is refused or harmless.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../support/allocation_count.hpp"
#include "../support/sanitizers.hpp"
#include "orders.hpp"

namespace meterbank::test {
namespace {

// A handle of no type that ever was.
template <typename Opaque>
Opaque* forged(std::uintptr_t number) {
  return reinterpret_cast<Opaque*>(number);
}

bool runs_well_in_child(const std::function<bool()>& child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child() ? 0 : 1);
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && status == 0;
}

TEST(NullInC, IsRefusedWhereSomethingIsNeeded) {
  const OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance eu = create_instance(set, "eu");
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  mb_provider* made = nullptr;
  mb_set* other = nullptr;
  mb_gauge gauge;
  mb_recorder recorder;
  mb_text text;
  mb_error error;
  char path[64];
  EXPECT_EQ(mb_provider_create(nullptr, &made, &error), MB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.what).find("NULL"), std::string::npos);
  EXPECT_EQ(mb_provider_create(&options, nullptr, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_provider_create(&options, &made, &error), MB_BAD_NAME);
  EXPECT_EQ(mb_provider_record(provider.get(), nullptr, 5, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_provider_record(provider.get(), path, 0, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_provider_add(provider.get(), nullptr, &other, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_provider_add(provider.get(), spec.get(), nullptr, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_set_create_instance(set, "us", nullptr, nullptr, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_set_create_instance(set, nullptr, nullptr, &eu, &error), MB_BAD_NAME);
  EXPECT_EQ(mb_set_find_instance(set, "eu", nullptr, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_instance_gauge(nullptr, 0, &gauge, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_instance_gauge(&eu, 0, nullptr, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_instance_recorder(nullptr, 0, &recorder, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_instance_recorder(&eu, 0, nullptr, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_instance_text(nullptr, 0, &text, &error), MB_INVALID_ARGUMENT);
  EXPECT_EQ(mb_instance_text(&eu, 0, nullptr, &error), MB_INVALID_ARGUMENT);
}

TEST(NullInC, IsIgnoredWhereSomethingIsClosed) {
  mb_provider_close(nullptr);
  mb_set_close(nullptr);
  mb_instance_close(nullptr);
  mb_instance_free(nullptr);
  EXPECT_EQ(mb_instance_id(nullptr), 0xffffffffU);
}

TEST(NullInC, IsADisabledProviderWhoseInstancesCountIntoNothing) {
  mb_set* set = forged<mb_set>(1);
  OrdersSpec spec;
  EXPECT_EQ(mb_provider_add(nullptr, spec.get(), &set, nullptr), MB_OK);
  EXPECT_EQ(set, nullptr);
  mb_instance eu;
  std::memset(&eu, 0x55, sizeof eu);
  EXPECT_EQ(mb_set_create_instance(set, "eu", nullptr, &eu, nullptr), MB_OK);
  mb_gauge gauge;
  mb_recorder recorder;
  mb_text text;
  EXPECT_EQ(mb_instance_gauge(&eu, 0, &gauge, nullptr), MB_OK);
  EXPECT_EQ(mb_instance_recorder(&eu, 0, &recorder, nullptr), MB_OK);
  EXPECT_EQ(mb_instance_text(&eu, 0, &text, nullptr), MB_OK);
  mb_instance_add(&eu, 0, 1);
  mb_instance_set(&eu, 0, 1);
  mb_update update = mb_update_begin(&eu);
  mb_update_add(&update, 0, 1);
  mb_update_record(&update, &recorder, 1);
  mb_update_set_gauge(&update, &gauge, 1);
  mb_update_set_text(&update, &text, "x", 1);
  mb_update_commit(&update);
  mb_update_abort(&update);
  const mb_counter counter = mb_instance_counter(&eu, 0);
  mb_counter_add(&counter, 1);
  mb_counter_add_from_any_thread(&counter, 1);
  mb_gauge_set(&gauge, 1);
  mb_gauge_add(&gauge, 1);
  mb_recorder_record(&recorder, 1);
  mb_text_set(&text, "x", 1);
  EXPECT_EQ(mb_instance_value(&eu, 0), 0U);
  EXPECT_EQ(mb_instance_id(&eu), 0xffffffffU);
  EXPECT_EQ(mb_set_find_instance(set, "eu", &eu, nullptr), MB_NOT_FOUND);
  char path[8] = "x";
  EXPECT_EQ(mb_provider_record(nullptr, path, sizeof path, nullptr), MB_OK);
  EXPECT_STREQ(path, "");
  mb_instance_close(&eu);
  mb_instance_free(&eu);
}

TEST(DisabledProviderInC, SaysWhyOnceAndKeepsErrno) {
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  options.name = "orders";
  options.directory = "/proc/nowhere/at/all";
  mb_provider_options no_size = options;
  no_size.size = 0;
  for (const mb_provider_options* bad : {static_cast<const mb_provider_options*>(&options),
                                         static_cast<const mb_provider_options*>(&no_size),
                                         static_cast<const mb_provider_options*>(nullptr)}) {
    testing::internal::CaptureStderr();
    errno = 4711;
    EXPECT_EQ(mb_provider_create_or_disabled(bad), nullptr);
    EXPECT_EQ(errno, 4711);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("meterbank: counters are not published: "), 0U) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  }
}

TEST(StructInC, IsRefusedIfAYesOrNoIsNeither) {
  const TemporaryDirectory directory;
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  options.name = "orders";
  options.directory = directory.path().c_str();
  options.keep_record = 2;
  mb_provider* made = nullptr;
  mb_error error;
  EXPECT_EQ(mb_provider_create(&options, &made, &error), MB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.what).find("keep_record is 2"), std::string::npos) << error.what;
  EXPECT_EQ(directory.files(), 0U);
}

TEST(StructInC, IsRefusedWithASizeOfNoVersion) {
  const OrdersProvider provider;
  for (const std::uint32_t size : {0U, 4U, 5000U}) {
    mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
    options.name = "orders";
    options.size = size;
    mb_provider* made = nullptr;
    EXPECT_EQ(mb_provider_create(&options, &made, nullptr), MB_INVALID_ARGUMENT) << size;
    OrdersSpec spec;
    spec.set.size = size;
    mb_set* set = nullptr;
    EXPECT_EQ(mb_provider_add(provider.get(), spec.get(), &set, nullptr), MB_INVALID_ARGUMENT);
    OrdersSpec other;
    other.set.counter_size = size;
    EXPECT_EQ(mb_provider_add(provider.get(), other.get(), &set, nullptr), MB_INVALID_ARGUMENT);
    EXPECT_EQ(set, nullptr);
  }
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance_options options = MB_INSTANCE_OPTIONS_INIT;
  options.size = 1;
  mb_instance eu;
  EXPECT_EQ(mb_set_create_instance(set, "eu", &options, &eu, nullptr), MB_INVALID_ARGUMENT);
}

TEST(StructInC, IsTakenWhenItIsNewerAndItsNewMembersAreZero) {
  const OrdersProvider provider;
  struct NewerCounter {
    mb_counter_spec known;
    std::uint64_t unknown;
  };
  struct NewerSet {
    mb_counterset_spec known;
    std::uint64_t unknown;
  };
  NewerCounter counters[2] = {{counter_spec(1, "A", "a"), 0}, {counter_spec(2, "B", "b"), 0}};
  NewerSet newer{MB_COUNTERSET_SPEC_INIT, 0};
  newer.known.size = sizeof newer;
  newer.known.counter_size = sizeof(NewerCounter);
  newer.known.name = "Newer";
  newer.known.symbol = "newer";
  newer.known.counters = &counters[0].known;
  newer.known.counters_count = 2;
  mb_set* set = nullptr;
  for (std::uint64_t* const unknown : {&counters[1].unknown, &newer.unknown}) {
    *unknown = 1;
    EXPECT_EQ(mb_provider_add(provider.get(), &newer.known, &set, nullptr), MB_INVALID_ARGUMENT);
    *unknown = 0;
  }
  set = provider.add(&newer.known);
  const mb_instance one = create_instance(set, "one");
  mb_instance_add(&one, 1, 6);
  EXPECT_EQ(read_all(provider).at("one/b").raw.value, 6U);
}

TEST(SpecificationInC, IsRefusedWithTheRuleThatItBreaks) {
  const OrdersProvider provider;
  const auto refused = [&](const std::function<void(OrdersSpec&)>& change, mb_status status,
                           const std::string& word) {
    OrdersSpec spec;
    change(spec);
    mb_set* set = nullptr;
    mb_error error;
    EXPECT_EQ(mb_provider_add(provider.get(), spec.get(), &set, &error), status) << word;
    EXPECT_NE(std::string(error.what).find(word), std::string::npos) << error.what;
    EXPECT_EQ(set, nullptr);
  };
  refused([](OrdersSpec& s) { s.set.name = nullptr; }, MB_BAD_NAME, "name");
  refused([](OrdersSpec& s) { s.set.name = "\xff\xfe"; }, MB_BAD_NAME, "name");
  refused([](OrdersSpec& s) { s.set.symbol = nullptr; }, MB_INVALID_ARGUMENT, "symbol");
  refused([](OrdersSpec& s) { s.set.help = "\xff"; }, MB_INVALID_ARGUMENT, "help");
  refused([](OrdersSpec& s) { s.set.flags = 0x8000; }, MB_INVALID_ARGUMENT, "flags");
  refused([](OrdersSpec& s) { s.set.instances = 3; }, MB_INVALID_ARGUMENT, "instances");
  refused([](OrdersSpec& s) { s.counters.clear(); }, MB_INVALID_ARGUMENT, "no counters");
  refused([](OrdersSpec& s) { s.counters[1].id = 1; }, MB_INVALID_ARGUMENT, "twice");
  refused([](OrdersSpec& s) { s.counters[1].flags = 0x80; }, MB_INVALID_ARGUMENT, "counter 2");
  refused([](OrdersSpec& s) { s.counters[1].reserved = 1; }, MB_INVALID_ARGUMENT, "counter 2");
  refused([](OrdersSpec& s) { s.counters[1].form = 9; }, MB_INVALID_ARGUMENT, "form");
  refused([](OrdersSpec& s) { s.counters[1].aggregate = 9; }, MB_INVALID_ARGUMENT, "aggregate");
  refused([](OrdersSpec& s) { s.counters[1].base = MB_LINK(9); }, MB_INVALID_ARGUMENT, "linked");
  refused([](OrdersSpec& s) { s.counters[1].name = "\xc3("; }, MB_INVALID_ARGUMENT, "name");
  OrdersSpec no_counters;
  no_counters.get();
  no_counters.set.counters = nullptr;
  mb_set* set = nullptr;
  EXPECT_EQ(mb_provider_add(provider.get(), &no_counters.set, &set, nullptr), MB_INVALID_ARGUMENT);
  no_counters.get();
  no_counters.set.counters_count = 0xffffffff;
  EXPECT_EQ(mb_provider_add(provider.get(), &no_counters.set, &set, nullptr), MB_INVALID_ARGUMENT);
}

TEST(NameInC, IsRefusedIfItIsNotUtf8) {
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  options.name =
      "or\xff"
      "ders";
  mb_provider* provider = nullptr;
  mb_error error;
  EXPECT_EQ(mb_provider_create(&options, &provider, &error), MB_BAD_NAME);
  EXPECT_NE(std::string(error.what)
                .find("or\xef\xbf\xbd"
                      "ders"),
            std::string::npos)
      << error.what;
  const OrdersProvider good;
  OrdersSpec spec;
  mb_set* const set = good.add(spec.get());
  mb_instance instance;
  for (const char* const bad : {"\x80", "\xed\xa0\x80", "a\nb", ""}) {
    EXPECT_EQ(mb_set_create_instance(set, bad, nullptr, &instance, nullptr), MB_BAD_NAME);
    EXPECT_EQ(mb_set_find_instance(set, bad, &instance, nullptr), MB_NOT_FOUND);
    EXPECT_EQ(instance.number, 0U);
  }
}

TEST(HandleInC, IsRefusedAfterItsClose) {
  OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance eu = create_instance(set, "eu");
  const mb_instance copy = eu;
  mb_set* other = nullptr;
  mb_gauge gauge;
  mb_instance_free(&eu);
  EXPECT_EQ(mb_instance_gauge(&copy, 0, &gauge, nullptr), MB_BAD_HANDLE);
  EXPECT_EQ(gauge.block.words, 0U);
  mb_set_close(set);
  EXPECT_EQ(mb_set_create_instance(set, "eu", nullptr, &eu, nullptr), MB_BAD_HANDLE);
  EXPECT_EQ(mb_set_find_instance(set, "eu", &eu, nullptr), MB_BAD_HANDLE);
  mb_provider_close(provider.get());
  mb_error error;
  EXPECT_EQ(mb_provider_add(provider.get(), spec.get(), &other, &error), MB_BAD_HANDLE);
  EXPECT_NE(std::string(error.what).find("provider"), std::string::npos);
  char path[64];
  EXPECT_EQ(mb_provider_record(provider.get(), path, sizeof path, nullptr), MB_BAD_HANDLE);
}

TEST(HandleInC, MayBeClosedTwiceAndByCopies) {
  OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance eu = create_instance(set, "eu");
  mb_instance copy = eu, third = eu;
  mb_instance_close(&eu);
  mb_instance_close(&eu);
  mb_instance us = create_instance(set, "eu");  // the name is free; a late close must not touch it
  mb_instance_close(&copy);
  mb_instance_free(&eu);
  mb_instance_free(&eu);
  mb_instance_free(&copy);
  mb_instance_close(&third);
  mb_instance_free(&third);
  mb_instance_add(&us, kAccepted, 1);
  EXPECT_EQ(read_all(provider).at("eu/accepted").raw.value, 1U);
  mb_set_close(set);
  mb_set_close(set);
  mb_provider_close(provider.get());
  mb_provider_close(provider.get());
}

TEST(HandleInC, RefusesAnotherTypeAndClosesNothing) {
  OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance eu = create_instance(set, "eu");
  auto* const provider_as_set = reinterpret_cast<mb_set*>(provider.get());
  auto* const set_as_provider = reinterpret_cast<mb_provider*>(set);
  mb_set* other = nullptr;
  mb_instance made;
  EXPECT_EQ(mb_provider_add(set_as_provider, spec.get(), &other, nullptr), MB_BAD_HANDLE);
  EXPECT_EQ(mb_set_create_instance(provider_as_set, "us", nullptr, &made, nullptr), MB_BAD_HANDLE);
  mb_provider_close(set_as_provider);
  mb_set_close(provider_as_set);
  mb_set_close(forged<mb_set>(eu.number));
  for (const std::uintptr_t number :
       {std::uintptr_t{8}, ~std::uintptr_t{0}, reinterpret_cast<std::uintptr_t>(&other)}) {
    EXPECT_EQ(mb_provider_add(forged<mb_provider>(number), spec.get(), &other, nullptr),
              MB_BAD_HANDLE);
    mb_provider_close(forged<mb_provider>(number));
    mb_set_close(forged<mb_set>(number));
  }
  mb_instance_add(&eu, kAccepted, 3);
  EXPECT_EQ(read_all(provider).at("eu/accepted").raw.value, 3U);
}

TEST(LateUseInC, CountsIntoNothingAfterEveryOrderOfClosing) {
  for (int order = 0; order < 6; ++order) {
    OrdersProvider provider;
    OrdersSpec spec;
    mb_set* const set = provider.add(spec.get());
    mb_instance eu = create_instance(set, "eu");
    const mb_counter counter = mb_instance_counter(&eu, kBytes);
    int steps[] = {0, 1, 2};
    for (int i = 0; i < order; ++i) std::next_permutation(steps, steps + 3);
    for (const int step : steps) {
      if (step == 0) mb_instance_close(&eu);
      if (step == 1) mb_set_close(set);
      if (step == 2) mb_provider_close(provider.get());
      for (int i = 0; i < 3000; ++i) {
        mb_instance_add(&eu, kAccepted, 1);
        mb_counter_add(&counter, 1);
        mb_update update = mb_update_begin(&eu);
        mb_update_add(&update, kDepth, 1);
        mb_update_commit(&update);
      }
    }
    mb_instance_free(&eu);
  }
}

TEST(LateUseInC, GetsClosedFromTheSetsOfAClosedProvider) {
  OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_provider_close(provider.get());
  mb_instance eu;
  EXPECT_EQ(mb_set_create_instance(set, "eu", nullptr, &eu, nullptr), MB_CLOSED);
  EXPECT_EQ(eu.number, 0U);
  mb_set_close(set);
}

TEST(ChildOfC, CountsIntoNothingAndIsRefusedEverythingOfItsParent) {
  OrdersProvider provider;
  OrdersSpec spec;
  mb_set* const set = provider.add(spec.get());
  mb_instance eu = create_instance(set, "eu");
  mb_instance_add(&eu, kAccepted, 5);
  EXPECT_TRUE(runs_well_in_child([&] {
    mb_set* other = nullptr;
    mb_instance made;
    mb_gauge gauge;
    for (int i = 0; i < 10'000; ++i) {
      mb_instance_add(&eu, kAccepted, 1);
      mb_update update = mb_update_begin(&eu);
      mb_update_add(&update, kBytes, 1);
      mb_update_commit(&update);
    }
    const bool refused =
        mb_provider_add(provider.get(), spec.get(), &other, nullptr) == MB_FORKED &&
        mb_set_create_instance(set, "us", nullptr, &made, nullptr) == MB_FORKED &&
        mb_set_find_instance(set, "eu", &made, nullptr) == MB_FORKED &&
        mb_instance_gauge(&eu, 0, &gauge, nullptr) == MB_FORKED;
    mb_instance_close(&eu);
    mb_instance_free(&eu);
    mb_set_close(set);
    mb_provider_close(provider.get());
    return refused;
  }));
  EXPECT_EQ(mb_instance_value(&eu, kAccepted), 5U);
  const auto seen = read_all(provider);
  EXPECT_EQ(seen.at("eu/accepted").raw.value, 5U);
  EXPECT_EQ(seen.at("eu/bytes").raw.value, 0U);
}

TEST(ChildOfC, MayHaveAProviderOfItsOwn) {
  OrdersProvider provider;
  OrdersSpec spec;
  mb_instance eu = create_instance(provider.add(spec.get()), "eu");
  EXPECT_TRUE(runs_well_in_child([&] {
    // In a child of threads, the thread sanitizer allows no new ones.
    OrdersProvider own(5000, kHasThreadSanitizer ? 0 : 1000);
    mb_set* const set = own.add(spec.get());
    const mb_instance us = create_instance(set, "us");
    mb_instance_add(&us, kAccepted, 9);
    return read_all(own).at("us/accepted").raw.value == 9;
  }));
  mb_instance_add(&eu, kAccepted, 1);
  EXPECT_EQ(read_all(provider).at("eu/accepted").raw.value, 1U);
}

// Each function, with every allocation that it makes failing in turn: MB_NO_SPACE or success, never
// an exception, and the same call works afterwards.
TEST(NoMemoryInC, IsAStatusAndLeavesEverythingUsable) {
  OrdersProvider provider;
  OrdersSpec spec;
  const auto fails_cleanly = [](const std::function<mb_status()>& call) {
    for (std::size_t passing = 0; passing < 1000; ++passing) {
      mb_status status = MB_OK;
      std::size_t failed = 0;
      {
        const FailingAllocations failing(passing, 1);
        status = call();
        failed = failing.failed();
      }
      if (failed == 0) return status;
      EXPECT_TRUE(status == MB_NO_SPACE || status == MB_OK) << mb_status_text(status);
      if (status == MB_OK) return status;
    }
    return MB_SYSTEM;
  };
  mb_set* set = nullptr;
  EXPECT_EQ(
      fails_cleanly([&] { return mb_provider_add(provider.get(), spec.get(), &set, nullptr); }),
      MB_OK);
  ASSERT_NE(set, nullptr);
  mb_instance eu;
  EXPECT_EQ(fails_cleanly([&] { return mb_set_create_instance(set, "eu", nullptr, &eu, nullptr); }),
            MB_OK);
  mb_instance_add(&eu, kAccepted, 2);
  EXPECT_EQ(read_all(provider).at("eu/accepted").raw.value, 2U);
}

}  // namespace
}  // namespace meterbank::test
