// SPDX-License-Identifier: Apache-2.0
//
// A driver's sources, unchanged, with the header that is generated of its manifest, in this
// process: its waves have closed forms.
#include <winbase.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>

#include "pcw_fixture.hpp"

namespace meterbank {
namespace {

using namespace test;

std::atomic<std::int64_t> the_time{0};
// relaxed: a number that nothing hangs on.
std::int64_t fake_clock() noexcept { return the_time.load(std::memory_order_relaxed); }

#ifdef METERBANK_CLI
// What the command line prints, a line each, of one counter of all waves.
std::string printed_by_the_cli(const std::string& directory, const std::string& counter) {
  const std::string command = "METERBANK_DIR='" + directory +
                              "' '" METERBANK_CLI "' get -f csv '\\Geometric Waves(*)\\" + counter +
                              "'";
  FILE* const out = ::popen(command.c_str(), "r");
  EXPECT_NE(out, nullptr);
  std::string text;
  for (int byte = std::fgetc(out); byte != EOF; byte = std::fgetc(out)) {
    text += static_cast<char>(byte);
  }
  EXPECT_EQ(::pclose(out), 0) << command;
  return text;
}
#endif

class Waves : public PcwTest {
 protected:
  Waves() { pcw::set_system_clock(fake_clock); }
  ~Waves() override {
    if (driver_.DriverUnload != nullptr) driver_.DriverUnload(&driver_);
  }
  void load() {
    UNICODE_STRING registry{};
    ASSERT_EQ(DriverEntry(&driver_, &registry), STATUS_SUCCESS) << pcw::last_refusal();
    ASSERT_NE(driver_.DriverUnload, nullptr);
  }

  DRIVER_OBJECT driver_{};
};

constexpr std::int64_t kSecond = 10'000'000;
constexpr std::int64_t kSomeDay = std::int64_t{13'000'000'000} * kSecond;  // index 0

TEST_F(Waves, HaveTheirClosedFormsAtEveryIndex) {
  load();
  constexpr std::array<std::uint64_t, 10> kHeights{5, 4, 3, 2, 1, 0, 1, 2, 3, 4};
  for (std::size_t index = 0; index < 10; ++index) {
    the_time = kSomeDay + static_cast<std::int64_t>(index) * kSecond + kSecond / 2;
    const std::uint64_t k = kHeights[index];
    const std::uint64_t up = index < 5 ? 1 : 0;

    const SeenRows rows = collect("Geometric Waves");

    ASSERT_EQ(rows.size(), 3U);
    using Values = std::vector<std::uint64_t>;
    EXPECT_EQ(values_of(rows, "Small Wave"), (Values{40 + 4 * k, 40 + 20 * up}));
    EXPECT_EQ(values_of(rows, "Medium Wave"), (Values{30 + 8 * k, 30 + 40 * up}));
    EXPECT_EQ(values_of(rows, "Large Wave"), (Values{20 + 12 * k, 20 + 60 * up}));
  }
}

TEST_F(Waves, AreReadByTheCommandLineInAnotherProcess) {
#ifndef METERBANK_CLI
  GTEST_SKIP() << "no program of this machine";
#else
  load();
  constexpr std::array<unsigned, 10> kHeights{5, 4, 3, 2, 1, 0, 1, 2, 3, 4};
  for (std::size_t index = 0; index < kHeights.size(); ++index) {
    the_time = kSomeDay + static_cast<std::int64_t>(index) * kSecond;
    const unsigned k = kHeights[index];
    const std::string printed = printed_by_the_cli(directory_.path(), "Triangle Wave");
    const auto expect_row = [&printed](const std::string& name, unsigned value) {
      const std::string row =
          ",geometric_wave," + name + ",triangle_wave," + std::to_string(value) + ",";
      EXPECT_NE(printed.find(row), std::string::npos) << row << "\n" << printed;
    };
    expect_row("Small Wave", 40 + 4 * k);
    expect_row("Medium Wave", 30 + 8 * k);
    expect_row("Large Wave", 20 + 12 * k);
    expect_row("_Total", 30 + 8 * k);
  }
#endif
}

TEST_F(Waves, AreEnumeratedWithoutValues) {
  load();
  const SeenRows rows = collect("Geometric Waves", MessageType::kEnumerate);
  EXPECT_EQ(rows.size(), 3U);
  for (const auto& [name, row] : rows) EXPECT_EQ(row.values.size(), 0U);
}

TEST_F(Waves, TurnInACircle) {
  load();
  for (std::int64_t step = 0; step < 10; ++step) {
    the_time = kSomeDay + step * kSecond;
    const double angle =
        static_cast<double>(the_time.load(std::memory_order_relaxed) / 400000) * 3 / 180;
    const SeenRows rows = collect("Trigonometric Waves");
    ASSERT_EQ(rows.count(""), 1U);  // one row: the driver's name for it tells nothing apart
    EXPECT_EQ(only_values(rows), (std::vector<std::uint64_t>{
                                     static_cast<std::uint64_t>(50 + 30 * std::sin(angle)),
                                     static_cast<std::uint64_t>(50 + 30 * std::cos(angle)), 50}));
  }
}

TEST_F(Waves, LeaveNothingBehind) {
  load();
  driver_.DriverUnload(&driver_);
  driver_.DriverUnload = nullptr;
  EXPECT_EQ(directory_.files(), 0U);
}

TEST(SystemTime, IsThatOfWindows) {
  LARGE_INTEGER time;
  KeQuerySystemTime(&time);
  FILETIME file_time;
  GetSystemTimeAsFileTime(&file_time);
  const std::int64_t now = std::int64_t{file_time.dwHighDateTime} << 32 | file_time.dwLowDateTime;
  EXPECT_GE(now, time.QuadPart);
  EXPECT_LT(now - time.QuadPart, 3600 * kSecond);
}

}  // namespace
}  // namespace meterbank
