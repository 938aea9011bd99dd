// SPDX-License-Identifier: Apache-2.0
#include "push/otlp/process_context.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <protozero/pbf_builder.hpp>
#include <random>
#include <thread>

#include "meterbank/base/process_facts.hpp"
#include "push/otlp/attributes.hpp"
#include "push/otlp/otlp_fields.hpp"
#include "push/otlp/resource.hpp"

namespace meterbank::push::otlp {
namespace {

constexpr Tag kTag = static_cast<Tag>(Resource::kAttributes);

std::string payload_of(std::string_view service) {
  std::string payload;
  append_attribute(payload, kTag, "service.name", service);
  append_attribute(payload, kTag, "service.version", std::string_view("1.2"));
  append_attribute(payload, kTag, "canary", true);
  append_attribute(payload, kTag, "replica", std::int64_t{-7});
  append_attribute(payload, kTag, "weight", 0.5);
  return payload;
}

// ProcessContext, as the OTEP has it since it was merged.
std::string in_context(const std::string& resource) {
  std::string context;
  protozero::pbf_writer writer(context);
  writer.add_message(1, resource);
  std::string extra;
  append_attribute(extra, 2, "threadlocal.schema_version", std::string_view("x"));
  return context + extra;
}

const std::vector<Attribute> kExpected = {{"service.name", std::string("orders")},
                                          {"service.version", std::string("1.2")},
                                          {"canary", true},
                                          {"replica", std::int64_t{-7}},
                                          {"weight", 0.5}};

// What a library of OpenTelemetry publishes, by the steps of the OTEP.
class PublishedContext {
 public:
  explicit PublishedContext(std::string payload) : payload_(std::move(payload)) {
    const int memory = ::memfd_create("OTEL_CTX", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(memory, kBytes), 0);
    base_ =
        static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, memory, 0));
    ::close(memory);
    put(8, std::uint32_t{2});
    publish(1);
    std::memcpy(base_, "OTEL_CTX", 8);
  }
  PublishedContext(const PublishedContext&) = delete;
  PublishedContext& operator=(const PublishedContext&) = delete;
  ~PublishedContext() { ::munmap(base_, kBytes); }

  template <typename T>
  void put(std::size_t offset, T value) {
    std::memcpy(base_ + offset, &value, sizeof value);
  }
  void publish(std::uint64_t time) {
    put(12, static_cast<std::uint32_t>(payload_.size()));
    put(24, payload_.data());
    put(16, time);
  }
  // In its place, where a reader may be at work.
  void change_to(const std::string& payload, std::uint64_t time) {
    std::atomic_ref<std::uint64_t> published(*reinterpret_cast<std::uint64_t*>(base_ + 16));
    // seq_cst, as the OTEP asks: readers in other processes see the change begin, then the bytes.
    published.exchange(0, std::memory_order_seq_cst);
    payload_.assign(payload);
    published.exchange(time, std::memory_order_seq_cst);  // seq_cst: behind the bytes
  }
  char* base() { return base_; }

 private:
  static constexpr std::size_t kBytes = 4096;
  std::string payload_;
  char* base_ = nullptr;
};

std::vector<Attribute> read_own() {
  return read_process_context(static_cast<std::uint32_t>(::getpid()));
}

TEST(ProcessContext, IsReadAsAResourceOrAsPartOfAContext) {
  EXPECT_EQ(parse_process_context(payload_of("orders")), kExpected);
  EXPECT_EQ(parse_process_context(in_context(payload_of("orders"))), kExpected);
}

TEST(ProcessContext, IsFoundInAnotherProcess) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const PublishedContext context(in_context(payload_of("orders")));
    static_cast<void>(::write(ready[1], "r", 1) == 1);
    while (true) ::pause();
  }
  char letter = 0;
  ASSERT_EQ(::read(ready[0], &letter, 1), 1);
  EXPECT_EQ(read_process_context(static_cast<std::uint32_t>(child)), kExpected);
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(read_process_context(static_cast<std::uint32_t>(child)).empty());
}

TEST(ProcessContext, IsNotReadWhileItIsBeingChanged) {
  EXPECT_TRUE(read_own().empty()) << "nothing is published";
  PublishedContext context(payload_of("orders"));
  EXPECT_EQ(read_own(), kExpected);
  context.put(16, std::uint64_t{0});
  EXPECT_TRUE(read_own().empty());
  context.publish(2);
  EXPECT_EQ(read_own(), kExpected);
}

TEST(ProcessContext, IsNeverAMixOfTwoThatFollowEachOther) {
  std::array<std::string, 2> payloads;
  for (int number = 0; number < 100; ++number) {
    for (const std::size_t which : {0U, 1U}) {
      append_attribute(payloads[which], kTag, std::to_string(number),
                       std::string_view(std::string(500, which == 0 ? 'a' : 'b')));
    }
  }
  PublishedContext context(payloads[0]);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    // relaxed: a late look at the flag costs one more change
    for (std::uint64_t time = 2; !stop.load(std::memory_order_relaxed); ++time) {
      context.change_to(payloads[time % 2], time);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int whole = 0; whole < 500;) {
    const std::vector<Attribute> attributes = read_own();
    if (attributes.empty()) continue;
    ++whole;
    const bool is_one =
        std::all_of(attributes.begin(), attributes.end(),
                    [&](const Attribute& each) { return each.value == attributes.front().value; });
    EXPECT_TRUE(is_one);
    if (!is_one) break;
  }
  stop.store(true, std::memory_order_relaxed);  // relaxed: join() orders everything else
  writer.join();
}

TEST(ProcessContext, IsRefusedWithoutHarmWhateverTheProcessWroteThere) {
  for (const auto& [offset, value] :
       std::vector<std::pair<std::size_t, std::uint64_t>>{{0, 0},
                                                          {8, 3},
                                                          {8, 1},
                                                          {12, 0xffffffff},
                                                          {12, kContextBytesMax + 1},
                                                          {24, 0},
                                                          {24, 1}}) {
    PublishedContext context(payload_of("orders"));
    if (offset == 8 || offset == 12) {
      context.put(offset, static_cast<std::uint32_t>(value));
    } else {
      context.put(offset, value);
    }
    EXPECT_TRUE(read_own().empty()) << offset << ' ' << value;
  }
}

TEST(ProcessContext, HasBoundsAndCleanTexts) {
  std::string payload;
  append_attribute(payload, kTag, "twice", std::string_view("first"));
  append_attribute(payload, kTag, "twice", std::string_view("second"));
  append_attribute(payload, kTag, "", std::string_view("no key"));
  append_attribute(payload, kTag, "hostile\x1b[2J", std::string_view("\xff\0x", 3));
  std::vector<Attribute> attributes = parse_process_context(payload);
  EXPECT_EQ(attributes,
            (std::vector<Attribute>{{"twice", std::string("first")},
                                    {"hostile\uFFFD[2J", std::string("\uFFFD\uFFFDx")}}));
  payload.clear();
  for (int number = 0; number < 1000; ++number) {
    append_attribute(payload, kTag, std::to_string(number), std::int64_t{number});
  }
  EXPECT_EQ(parse_process_context(payload).size(), kContextAttributesMax);
}

TEST(ProcessContext, EndsWithAnyBytes) {
  std::mt19937 engine(1);
  const std::string good = in_context(payload_of("orders"));
  for (int count = 0; count < 20'000; ++count) {
    std::string payload = good.substr(0, engine() % (good.size() + 1));
    for (unsigned flips = engine() % 4; flips > 0 && !payload.empty(); --flips) {
      payload[engine() % payload.size()] = static_cast<char>(engine());
    }
    EXPECT_LE(parse_process_context(payload).size(), kContextAttributesMax);
  }
}

class ContextsOfProviders : public ::testing::Test {
 protected:
  ContextsOfProviders() {
    providers_[0].name = "orders-provider";
    providers_[0].segment_id = {5, 0};
    providers_[0].pid = 1;
    providers_[0].pid_here = static_cast<std::uint32_t>(::getpid());
    providers_[0].start_time = own_start_time();
  }
  [[nodiscard]] bool says(std::string_view text) const {
    return encode_resource(providers_[0], contexts_.of(providers_[0]), {}).find(text) !=
           std::string::npos;
  }

  std::vector<exposition::PageProvider> providers_{1};
  ProcessContexts contexts_;
};

TEST_F(ContextsOfProviders, AreLookedForAgainBecauseTheyMayComeLater) {
  EXPECT_FALSE(contexts_.look(providers_, 1));
  EXPECT_TRUE(says("orders-provider"));
  EXPECT_FALSE(says("meterbank.provider"));
  PublishedContext context(payload_of("orders"));
  EXPECT_FALSE(contexts_.look(providers_, 2)) << "too early to look again";
  EXPECT_TRUE(contexts_.look(providers_, 1 + ProcessContexts::kAgainNs));
  EXPECT_EQ(contexts_.of(providers_[0]), kExpected);
  EXPECT_TRUE(says("meterbank.provider"));
  EXPECT_TRUE(says("service.version"));
  // While it is being changed, what was said before holds.
  context.put(16, std::uint64_t{0});
  EXPECT_FALSE(contexts_.look(providers_, 1 + 2 * ProcessContexts::kAgainNs));
  EXPECT_EQ(contexts_.of(providers_[0]), kExpected);
}

TEST_F(ContextsOfProviders, AreNotThoseOfALaterProcessOfTheSameNumber) {
  const PublishedContext context(payload_of("orders"));
  providers_[0].start_time += 1;
  EXPECT_FALSE(contexts_.look(providers_, 1));
  EXPECT_TRUE(contexts_.of(providers_[0]).empty());
}

TEST_F(ContextsOfProviders, SayNothingThatTheKernelKnowsBetter) {
  std::string payload = payload_of("orders");
  append_attribute(payload, kTag, "container.id", std::string_view("claimed"));
  append_attribute(payload, kTag, "host.name", std::string_view("claimed"));
  append_attribute(payload, kTag, "process.pid", std::int64_t{4711});
  append_attribute(payload, kTag, "meterbank.provider", std::string_view("claimed"));
  const PublishedContext context(payload);
  EXPECT_TRUE(contexts_.look(providers_, 1));
  EXPECT_FALSE(says("claimed"));
  EXPECT_TRUE(says("service.version"));
}

}  // namespace
}  // namespace meterbank::push::otlp
