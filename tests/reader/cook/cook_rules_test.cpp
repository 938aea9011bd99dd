// SPDX-License-Identifier: Apache-2.0
//
// The formulas of counter types against a second writing of them, made from the published table and
// from nothing of ours: symbols, order and edge rules are those of the Windows documentation.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <random>

#include "../../support/cooked_values.hpp"
#include "../../support/depth.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

// N value, B base, T performance clock in ticks, H 100 ns clock, O and OF the object's clock and
// its frequency, M components. 0 is the older sample.
struct Symbols {
  std::uint64_t n0, n1, b0, b1, t0, t1, o0, o1, of, m1;
};
constexpr double kF = 1e9;  // the performance clock's ticks in a second

using Answer = std::optional<double>;  // none: the pair has no value

Answer delta32(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::uint32_t>(to - from));
}
Answer delta64(std::uint64_t from, std::uint64_t to) {
  if (to < from) return std::nullopt;
  return static_cast<double>(to - from);
}
Answer over(Answer numerator, Answer denominator) {
  if (!numerator || !denominator || *denominator == 0) return std::nullopt;
  return *numerator / *denominator;
}
Answer times(double factor, Answer value) {
  if (!value) return std::nullopt;
  return factor * *value;
}
Answer inverse(Answer share) {
  if (!share) return std::nullopt;
  return 100 * (1 - *share);
}

Answer by_the_book(std::uint32_t type, const Symbols& s) {
  const Answer dt = delta64(s.t0, s.t1);
  const Answer dh = delta64(s.t0 / 100, s.t1 / 100);
  const Answer d_o = delta64(s.o0, s.o1);
  const Answer n32 = delta32(s.n0, s.n1);
  const Answer n64 = delta64(s.n0, s.n1);
  const Answer m = static_cast<double>(s.m1);
  switch (type) {
    case 0x00010000:
    case 0x00000000:
      return static_cast<double>(s.n1 & 0xffffffff);
    case 0x00010100:
    case 0x00000100:
      return static_cast<double>(s.n1);
    case 0x00400400:
      return n32;
    case 0x00400500:
      return n64;
    case 0x10410400:
    case 0x00410400:
      return times(kF, over(n32, dt));
    case 0x10410500:
      return times(kF, over(n64, dt));
    case 0x00450400:
      return over(n32, dt);
    case 0x00450500:
      return over(n64, dt);
    case 0x00550500:
      return over(n64, dh);
    case 0x00650500:
      return over(n64, d_o);
    case 0x20410500:
      return times(100, over(n64, dt));
    case 0x21410500:
      return inverse(over(n64, dt));
    case 0x20510500:
      return times(100, over(n64, dh));
    case 0x21510500:
      return inverse(over(n64, dh));
    case 0x20610500:
      return times(100, over(n64, d_o));
    case 0x20470500:
    case 0x20570500:
    case 0x20670500:
      return times(100, over(n64, delta64(s.b0, s.b1)));
    case 0x22410500:
      return times(100, over(over(n64, dt), m));
    case 0x23410500:
      return inverse(over(over(n64, dt), m));
    case 0x22510500:
      return times(100, over(over(n64, dh), m));
    case 0x23510500:
      return inverse(over(over(n64, dh), m));
    case 0x20c20400:
      return times(100, over(n32, delta32(s.b0, s.b1)));
    case 0x20020400:
      return times(100, over(static_cast<double>(s.n1 & 0xffffffff),
                             static_cast<double>(s.b1 & 0xffffffff)));
    case 0x20020500:
      return times(100, over(static_cast<double>(s.n1), static_cast<double>(s.b1)));
    case 0x30020400:
      return over(times(1 / kF, n32), delta32(s.b0, s.b1));
    case 0x40020500:
      return over(n64, delta32(s.b0, s.b1));
    case 0x30240500:
      if (s.of == 0) return std::nullopt;
      if (s.n1 == 0 || s.n1 >= s.o1) return 0;
      return static_cast<double>(s.o1 - s.n1) / static_cast<double>(s.of);
    default:
      return std::nullopt;
  }
}

constexpr auto kShown = std::to_array<std::uint32_t>(
    {0x00010000, 0x00010100, 0x00000000, 0x00000100, 0x00400400, 0x00400500, 0x10410400, 0x10410500,
     0x00410400, 0x00450400, 0x00450500, 0x00550500, 0x00650500, 0x20410500, 0x21410500, 0x20510500,
     0x21510500, 0x20610500, 0x20470500, 0x20570500, 0x20670500, 0x22410500, 0x23410500, 0x22510500,
     0x23510500, 0x20c20400, 0x20020400, 0x20020500, 0x30020400, 0x40020500, 0x30240500});

RawValue older_of(const Symbols& s) {
  return {.value = s.n0,
          .base = s.b0,
          .object_time = s.o0,
          .object_frequency = s.of,
          .multi = s.m1,
          .time_ns = s.t0};
}
RawValue newer_of(const Symbols& s) {
  return {.value = s.n1,
          .base = s.b1,
          .object_time = s.o1,
          .object_frequency = s.of,
          .multi = s.m1,
          .time_ns = s.t1};
}
CookedValue cooked(std::uint32_t type, const Symbols& s, CookOptions options = {false}) {
  const RawValue older = older_of(s);
  return cook(static_cast<CounterType>(type), &older, newer_of(s), options);
}

// Two pairs for each type, small enough to be worked out by hand.
struct Golden {
  std::uint32_t type;
  double first, second;
};
// Half a second: 100 more, base 50 more, the object's clock 25 ticks of 10 Hz further.
constexpr Symbols kFirst{400, 500, 50, 100, 0, 500'000'000, 1000, 1025, 10, 5};
// Two seconds: 1,000,000,000 more, base 4 more, the object's clock 3,000,000,000 further.
constexpr Symbols kSecond{7,
                          1'000'000'007,
                          1,
                          5,
                          1'000'000'000,
                          3'000'000'000,
                          1'000'000'000,
                          4'000'000'000,
                          1'000'000'000,
                          2};
constexpr auto kGolden = std::to_array<Golden>({
    {0x00010000, 500, 1'000'000'007},
    {0x00010100, 500, 1'000'000'007},
    {0x00000000, 500, 1'000'000'007},
    {0x00000100, 500, 1'000'000'007},
    {0x00400400, 100, 1e9},
    {0x00400500, 100, 1e9},
    {0x10410400, 200, 5e8},
    {0x10410500, 200, 5e8},
    {0x00410400, 200, 5e8},
    {0x00450400, 2e-7, 0.5},
    {0x00450500, 2e-7, 0.5},
    {0x00550500, 2e-5, 50},
    {0x00650500, 4, 1.0 / 3},
    {0x20410500, 2e-5, 50},
    {0x21410500, 99.99998, 50},
    {0x20510500, 2e-3, 5000},
    {0x21510500, 99.998, -4900},
    {0x20610500, 400, 100.0 / 3},
    {0x20470500, 200, 2.5e10},
    {0x20570500, 200, 2.5e10},
    {0x20670500, 200, 2.5e10},
    {0x22410500, 4e-6, 25},
    {0x23410500, 99.999996, 75},
    {0x22510500, 4e-4, 2500},
    {0x23510500, 99.9996, -2400},
    {0x20c20400, 200, 2.5e10},
    {0x20020400, 500, 20'000'000'140},
    {0x20020500, 500, 20'000'000'140},
    {0x30020400, 2e-9, 0.25},
    {0x40020500, 2, 2.5e8},
    {0x30240500, 52.5, 2.999999993},
});

void expect_near(double value, double expected) {
  EXPECT_NEAR(value, expected, std::max(1e-9, std::abs(expected) * 1e-9));
}

TEST(CookRules, GiveTwoGoldenValuesForEachTypeThatIsShown) {
  ASSERT_EQ(kGolden.size(), kShown.size());
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(name_of(static_cast<CounterType>(golden.type)));
    expect_near(cooked(golden.type, kFirst).value, golden.first);
    expect_near(cooked(golden.type, kSecond).value, golden.second);
    expect_near(by_the_book(golden.type, kFirst).value(), golden.first);
    expect_near(by_the_book(golden.type, kSecond).value(), golden.second);
  }
}

class RandomSymbols {
 public:
  Symbols next() {
    Symbols s{};
    s.n0 = number();
    s.n1 = close_to(s.n0);
    s.b0 = number();
    s.b1 = close_to(s.b0);
    // Times are whole 100 ns, so that both clocks say the same.
    s.t0 = number() % (std::uint64_t{1} << 62) / 100 * 100;
    s.t1 = close_to(s.t0) % (std::uint64_t{1} << 62) / 100 * 100;
    s.o0 = number();
    s.o1 = close_to(s.o0);
    s.of = one_of({0, 1, 1000, 1'000'000'000, number()});
    s.m1 = one_of({0, 1, 2, 64, number()});
    return s;
  }

 private:
  std::uint64_t number() {
    const std::uint64_t any = random_();
    return one_of({0, 1, any >> 60, any >> 40, 0xffffffff - (any >> 58), 0x100000000 + (any >> 58),
                   any >> 1, any, ~(any >> 58)});
  }
  std::uint64_t close_to(std::uint64_t from) {
    const std::uint64_t any = random_();
    return one_of({from, from + 1, from - 1, from + (any >> 50), from + (any >> 30),
                   from - (any >> 50), number()});
  }
  std::uint64_t one_of(std::initializer_list<std::uint64_t> choices) {
    return choices.begin()[random_() % choices.size()];
  }

  std::mt19937_64 random_{20240229};
};

TEST(CookRules, AgreeWithTheBookOnRandomPairs) {
  RandomSymbols random;
  std::size_t values = 0;
  std::size_t refusals = 0;
  const std::uint64_t pairs = test::tries(100'000);
  for (std::uint64_t turn = 0; turn < pairs; ++turn) {
    const Symbols s = random.next();
    for (const std::uint32_t type : kShown) {
      const CookedValue ours = cooked(type, s);
      const Answer book = by_the_book(type, s);
      ASSERT_EQ(has_value(ours.status), book.has_value())
          << name_of(static_cast<CounterType>(type)) << " " << name_of(ours.status) << " " << s.n0
          << " " << s.n1 << " " << s.b0 << " " << s.b1 << " " << s.t0 << " " << s.t1;
      ++(book ? values : refusals);
      if (!book) continue;
      // One minus a share loses as many digits as the share is larger than what is left.
      const double size = std::max(std::abs(*book), 100.0);
      ASSERT_NEAR(ours.value, *book, size * 1e-12) << name_of(static_cast<CounterType>(type));
    }
  }
  EXPECT_GT(values, 10 * pairs);
  EXPECT_GT(refusals, pairs);
}

TEST(CookRules, GiveNoNanOrInfinityForAnyPairOfAnyType) {
  RandomSymbols random;
  std::mt19937_64 types(1);
  for (std::uint64_t turn = 0; turn < test::tries(1'000'000); ++turn) {
    const Symbols s = random.next();
    const auto type =
        turn % 2 == 0 ? kShown[types() % kShown.size()] : static_cast<std::uint32_t>(types());
    for (const bool cap : {false, true}) {
      const CookedValue value = cooked(type, s, {cap});
      ASSERT_TRUE(std::isfinite(value.value)) << type;
      const bool is_percent = cap && type >> 28 == 2;
      ASSERT_TRUE(!is_percent || (value.value >= 0 && value.value <= 100)) << type;
    }
  }
}

TEST(CookRules, CapAPercentageOf104At100) {
  const Symbols s{0, 104, 0, 100, 0, 100, 0, 100, 1, 1};
  EXPECT_DOUBLE_EQ(cooked(0x20c20400, s, {true}).value, 100);
  EXPECT_DOUBLE_EQ(cooked(0x20c20400, s, {false}).value, 104);
}

TEST(CookRules, ShareAMultiTimerAmongItsComponents) {
  // Four components, each busy for the whole second: 4e9 ticks in 1e9.
  const Symbols busy{0, 4'000'000'000, 0, 0, 0, 1'000'000'000, 0, 0, 0, 4};
  const Symbols idle{5, 5, 0, 0, 0, 1'000'000'000, 0, 0, 0, 4};
  const Symbols half{0, 2'000'000'000, 0, 0, 0, 1'000'000'000, 0, 0, 0, 4};
  EXPECT_DOUBLE_EQ(cooked(0x22410500, busy).value, 100);
  EXPECT_DOUBLE_EQ(cooked(0x23410500, busy).value, 0);
  EXPECT_DOUBLE_EQ(cooked(0x22410500, idle).value, 0);
  EXPECT_DOUBLE_EQ(cooked(0x23410500, idle).value, 100);
  EXPECT_DOUBLE_EQ(cooked(0x22410500, half).value, 50);
  EXPECT_DOUBLE_EQ(cooked(0x23410500, half).value, 50);
}

TEST(CookRules, TakeThePrecisionTimersTimeFromItsOwnBase) {
  Symbols s{0, 30, 1000, 1100, 0, 1'000'000'000, 0, 1, 1, 1};
  for (const std::uint32_t type : {0x20470500U, 0x20570500U, 0x20670500U}) {
    EXPECT_DOUBLE_EQ(cooked(type, s).value, 30);
    Symbols other = s;
    other.t1 = other.t0;  // the sample's clock stood still, or ran backwards
    EXPECT_DOUBLE_EQ(cooked(type, other).value, 30);
    other.t0 = 77'000'000'000;
    EXPECT_DOUBLE_EQ(cooked(type, other).value, 30);
  }
}

TEST(CookRules, TakeWidthsFromTheTypesOfNumeratorAndBase) {
  // A 64-bit numerator over a base of 32 bits that wraps, as processor utility has it.
  const Symbols wrapped{0, 1000, 0xfffffff6, 0x0a, 0, 100, 0, 0, 0, 1};
  EXPECT_DOUBLE_EQ(cooked(0x40020500, wrapped).value, 50);
  // AVERAGE_TIMER has 32 bits, OBJ_TIME_TIMER 64.
  const Symbols low{0x1'0000'0001, 0x2'0000'0003, 0, 1, 0, 100, 0, 0x1'0000'0002, 1, 1};
  EXPECT_DOUBLE_EQ(cooked(0x30020400, low).value, 2e-9);
  EXPECT_DOUBLE_EQ(cooked(0x20610500, low).value, 100);
}

// Manifests of Windows name the number of components as a base, as a multiplier, or as both.
TEST(CookRules, CountComponentsByEitherLinkOfTheSchema) {
  static constexpr std::array kCounters{
      CounterSpec{.id = 1,
                  .name = "By Base",
                  .symbol = "by_base",
                  .type = CounterType::kMultiTimer100NsInverse,
                  .base = 4},
      CounterSpec{.id = 2,
                  .name = "By Multiplier",
                  .symbol = "by_multiplier",
                  .type = CounterType::kMultiTimer100NsInverse,
                  .multi = 5},
      CounterSpec{.id = 3,
                  .name = "By Both",
                  .symbol = "by_both",
                  .type = CounterType::kMultiTimer100NsInverse,
                  .base = 4,
                  .multi = 5},
      CounterSpec{.id = 4, .type = CounterType::kMultiBase},
      CounterSpec{.id = 5, .name = "Parts", .symbol = "parts", .type = CounterType::kRawCount}};
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "parts", .directory = directory.path()});
  const Registration set = *provider.add({.name = "Parts",
                                          .symbol = "parts",
                                          .instances = InstanceKind::kSingle,
                                          .counters = kCounters});
  Instance row = *set.create_instance("");
  const auto write = [&row](std::uint64_t busy) {
    row.update([=](Values& values) noexcept {
      for (const std::uint32_t word : {0U, 1U, 2U}) values.set(word, busy);
      values.set(3, std::uint64_t{4});
      values.set(4, std::uint64_t{8});
    });
  };
  auto query = *Query::compile(*Catalog::open({.directory = directory.path()}), {});
  Sample before;
  Sample after;
  write(0);
  query.collect(before, Timestamp{1'000'000'000, 1});
  write(20'000'000);  // two of the components for one second
  query.collect(after, Timestamp{2'000'000'000, 1'000'000'001});
  const auto rows = test::cooked_values(before, after);
  ASSERT_GE(rows.size(), 3U);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 50);
  EXPECT_DOUBLE_EQ(rows[1].cooked.value, 75);
  EXPECT_DOUBLE_EQ(rows[2].cooked.value, 75);
}

// A set with an object clock of its own, read through the library.
TEST(CookRules, ReadTheObjectsClockFromTheCountersThatTheSchemaNames) {
  static constexpr std::array kCounters{
      CounterSpec{.id = 1,
                  .name = "Busy",
                  .symbol = "busy",
                  .type = CounterType::kTimerObject,
                  .time = 3,
                  .frequency = 4},
      CounterSpec{.id = 2,
                  .name = "Age",
                  .symbol = "age",
                  .type = CounterType::kElapsedTime,
                  .time = 3,
                  .frequency = 4},
      CounterSpec{.id = 3, .name = "Now", .symbol = "now", .type = CounterType::kLargeRawCount},
      CounterSpec{.id = 4, .name = "Hertz", .symbol = "hertz", .type = CounterType::kLargeRawCount},
      CounterSpec{.id = 5,
                  .name = "Scaled",
                  .symbol = "scaled",
                  .type = CounterType::kLargeRawCount,
                  .scale = -3}};
  const test::TemporaryDirectory directory;
  auto provider = *Provider::create({.name = "clock", .directory = directory.path()});
  const Registration set =
      *provider.add({.name = "Clock", .symbol = "clock", .counters = kCounters});
  Instance row = *set.create_instance("one");
  const auto write = [&row](std::uint64_t busy, std::uint64_t now) {
    row.update([=](Values& values) noexcept {
      values.set(0, busy);
      values.set(1, std::uint64_t{100});
      values.set(2, now);
      values.set(3, std::uint64_t{50});
      values.set(4, std::uint64_t{7000});
    });
  };
  auto query = *Query::compile(*Catalog::open({.directory = directory.path()}), {});
  Sample before;
  Sample after;
  write(10, 200);
  query.collect(before, Timestamp{1, 1});
  write(35, 300);
  query.collect(after, Timestamp{2, 2});  // a nanosecond later by the sample's clock
  const auto rows = test::cooked_values(before, after);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_DOUBLE_EQ(rows[0].cooked.value, 25);  // 25 of 100 ticks
  EXPECT_DOUBLE_EQ(rows[1].cooked.value, 4);   // 200 ticks of 50 Hz
  // The scale is for displays: neither the raw value nor the cooked one knows it.
  EXPECT_EQ(rows[4].raw.value, 7000U);
  EXPECT_DOUBLE_EQ(rows[4].cooked.value, 7000);
  EXPECT_EQ(rows[4].counter->scale, -3);
}

}  // namespace
}  // namespace meterbank
