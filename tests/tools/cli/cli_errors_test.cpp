// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::cli {
namespace {

class CliErrors : public CliTest {};

void expect_one_line_of_help(const Outcome& outcome) {
  EXPECT_EQ(outcome.err.substr(0, 11), "meterbank: ");
  EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
}

TEST_F(CliErrors, SuggestsTheNearestSet) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_sale/stock"});

  EXPECT_EQ(outcome.code, kExitNo);
  expect_one_line_of_help(outcome);
  EXPECT_NE(outcome.err.find("shop_sales"), std::string::npos) << outcome.err;
}

TEST_F(CliErrors, SuggestsTheNearestCounter) {
  open_shop();

  const auto outcome = meterbank({"get", "shop_sales/fruit/stok"});

  EXPECT_EQ(outcome.code, kExitNo);
  expect_one_line_of_help(outcome);
  EXPECT_NE(outcome.err.find("stock"), std::string::npos) << outcome.err;
}

TEST_F(CliErrors, RefusesAnUnknownOptionWithTheNearestOne) {
  const auto outcome = meterbank({"get", "shop_sales", "--intervall", "5"});

  EXPECT_EQ(outcome.code, kExitUsage);
  expect_one_line_of_help(outcome);
  EXPECT_NE(outcome.err.find("try: --interval\n"), std::string::npos) << outcome.err;
}

TEST_F(CliErrors, RefusesAnUnknownVerbWithTheNearestOne) {
  const auto outcome = run_plainly({"wach"});

  EXPECT_EQ(outcome.code, kExitUsage);
  expect_one_line_of_help(outcome);
  EXPECT_NE(outcome.err.find("try: meterbank watch"), std::string::npos) << outcome.err;
}

TEST_F(CliErrors, RefusesInvalidValues) {
  const std::vector<std::vector<std::string>> wrong{{"get", "-i", "soon"},
                                                    {"get", "-i", "-1"},
                                                    {"get", "-n", "many"},
                                                    {"get", "-f", "yaml"},
                                                    {"get", "--units", "metric"},
                                                    {"get", "--color", "blue"},
                                                    {"get", "--json-int", "x"},
                                                    {"get", "-i"},
                                                    {"get", "--timeout", "never"},
                                                    {"get", "-i", "0"},
                                                    {"get", "--raw", "--cooked"},
                                                    {"list", "-n", "5"},
                                                    {"host", "extra"},
                                                    {"list", "--instances", "--providers"},
                                                    {}};
  for (const auto& arguments : wrong) {
    const auto outcome = run_plainly(arguments);
    EXPECT_EQ(outcome.code, kExitUsage) << ::testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "") << ::testing::PrintToString(arguments);
    expect_one_line_of_help(outcome);
  }
}

TEST_F(CliErrors, RefusesAPathThatDoesNotParse) {
  open_shop();

  const auto outcome = meterbank({"get", "\\Shop Sales(fruit\\Stock"});

  EXPECT_EQ(outcome.code, kExitUsage);
  expect_one_line_of_help(outcome);
}

TEST_F(CliErrors, SaysThatAnOptionStandsBeforeItsVerb) {
  const auto outcome = run_plainly({"-f", "json", "get", "shop_sales"});

  EXPECT_EQ(outcome.code, kExitUsage);
  expect_one_line_of_help(outcome);
  EXPECT_NE(outcome.err.find("before its verb; try: meterbank get ... -f"), std::string::npos)
      << outcome.err;
}

TEST_F(CliErrors, RefusesAnEmptyValueWhichIsAVariableThatWasNotSet) {
  for (const char* option : {"-n", "-i", "-f", "--dir", "-o"}) {
    const auto outcome = run_plainly({"get", option, ""});
    EXPECT_EQ(outcome.code, kExitUsage) << option;
    expect_one_line_of_help(outcome);
  }
}

TEST_F(CliErrors, NamesTheOptionThatLacksItsValue) {
  const auto outcome = run_plainly({"get", "-n"});

  EXPECT_NE(outcome.err.find("--samples needs a value"), std::string::npos) << outcome.err;
}

TEST_F(CliErrors, SuggestsAProviderWithoutTheWrongProcessNumber) {
  open_shop();

  const auto outcome = meterbank({"get", "shop@1:shop_sales/stock"});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("no provider matches"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("try: shop:shop_sales/stock"), std::string::npos) << outcome.err;
}

TEST_F(CliErrors, PointsAtTheListOfTheSetThatIsMeant) {
  open_shop();

  const auto word = meterbank({"get", "shop_sales/xyzzy"});
  const auto counter = meterbank({"get", "shop_sales/fruit/xyzzy"});
  const auto instance = meterbank({"get", "shop_sales/xyzzy/stock"});

  EXPECT_NE(word.err.find("no counter or instance matches"), std::string::npos) << word.err;
  EXPECT_NE(counter.err.find("try: meterbank list shop_sales"), std::string::npos) << counter.err;
  EXPECT_NE(instance.err.find("try: meterbank list --instances shop_sales"), std::string::npos)
      << instance.err;
}

TEST_F(CliErrors, RefusesAnEmptyFileOfPaths) {
  std::ofstream(file("paths")) << "# nothing\n";

  EXPECT_EQ(meterbank({"get", "-c", file("paths")}).code, kExitUsage);
  EXPECT_EQ(meterbank({"get", "-c", file("missing")}).code, kExitUsage);
}

TEST_F(CliErrors, AnEmptyDirectoryIsAnAnswerAndAMissingOneIsNot) {
  const auto empty = meterbank({"list"});
  const auto missing = run_plainly({"list", "--dir", directory_ + "/missing"});

  EXPECT_EQ(empty.code, kExitNo);
  expect_one_line_of_help(empty);
  EXPECT_EQ(missing.code, kExitEnvironment);
  EXPECT_EQ(missing.err.substr(0, 11), "meterbank: ");
}

TEST_F(CliErrors, NamesTheLayoutOfASegmentThatIsTooNew) {
  open_shop();
  auto extent = OwnedExtent::create("future", kExtentBytesMin);
  ASSERT_TRUE(extent) << extent.error().message();
  auto& header = *reinterpret_cast<SegmentHeader*>(extent->data());
  header.layout_major = kLayoutMajor + 1;
  header.abi_mark = kAbiMark;
  header.header_bytes = sizeof(SegmentHeader);
  header.pid = static_cast<std::uint32_t>(::getpid());
  header.boot_id = boot_id();
  header.start_time = process_start_time(header.pid);
  header.name_bytes = 6;
  std::memcpy(header.name.data(), "future", 6);
  header.extents[0] = {.bytes = extent->size(),
                       .inode = extent->inode(),
                       .descriptor = static_cast<std::uint32_t>(extent->descriptor()),
                       .reserved = 0};
  header.extents_count.store(1, std::memory_order_relaxed);  // relaxed: no reader yet
  header.magic.store(kSegmentMagic, std::memory_order_release);
  const PointerRecord record{.name = "future",
                             .pid = header.pid,
                             .start_time = header.start_time,
                             .boot_id = header.boot_id,
                             .descriptor = static_cast<std::uint32_t>(extent->descriptor()),
                             .inode = extent->inode(),
                             .bytes = extent->size(),
                             .layout_major = kLayoutMajor + 1,
                             .layout_minor = 0};
  ASSERT_TRUE(write_record(directory_, record));

  const auto get = meterbank({"get", "future:*"});
  const auto list = meterbank({"list"});
  const auto doctor = meterbank({"doctor"});

  EXPECT_EQ(get.code, kExitEnvironment);
  EXPECT_NE(get.err.find("future@"), std::string::npos) << get.err;
  EXPECT_NE(get.err.find("NEWER_LAYOUT"), std::string::npos) << get.err;
  EXPECT_EQ(list.code, kExitEnvironment);
  EXPECT_NE(list.out.find("shop_sales"), std::string::npos) << list.out;
  EXPECT_EQ(doctor.code, kExitNo);
  EXPECT_NE(doctor.out.find("PROBLEM"), std::string::npos) << doctor.out;
}

// Publishes like open_shop(), in a process that is killed before this returns.
void publish_and_die(const std::string& directory) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto provider = Provider::create({.name = "shop", .directory = directory});
    auto sales = provider->add(kSales, nullptr);  // with a socket
    auto fruit = sales->create_instance("fruit");
    fruit->set(Sales::kStock, 3);
    static_cast<void>(!::write(ready[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  ::close(ready[1]);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(CliErrors, NothingIsReadFromAProviderThatDiedBefore) {
  publish_and_die(directory_);

  const auto outcome = meterbank({"get", "shop_sales/stock"});

  EXPECT_NE(outcome.code, kExitDone);
  EXPECT_EQ(outcome.err.substr(0, 11), "meterbank: ") << outcome.err;
}

TEST_F(CliErrors, DoctorRemovesTheRecordsOfTheDeadAndOnlyThose) {
  publish_and_die(directory_);
  auto alive = Provider::create({.name = "alive", .directory = directory_});
  ASSERT_TRUE(alive);

  const auto outcome = meterbank({"doctor", "--clean"});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.out;
  EXPECT_NE(outcome.out.find("removed 1 record"), std::string::npos) << outcome.out;
  std::size_t records = 0, sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    records += entry.path().extension() == kPointerRecordSuffix ? 1U : 0U;
    sockets += entry.path().extension() == kSocketSuffix ? 1U : 0U;
  }
  EXPECT_EQ(records, 1U);
  EXPECT_EQ(sockets, 0U);
  EXPECT_TRUE(std::filesystem::exists(alive->record()));
}

}  // namespace
}  // namespace meterbank::cli
