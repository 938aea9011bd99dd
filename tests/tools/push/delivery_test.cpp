// SPDX-License-Identifier: Apache-2.0
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <future>
#include <set>

#include "../exposition/exposition_fixture.hpp"
#include "push/batch/compression.hpp"
#include "push/delivery/outcome.hpp"
#include "push/delivery/pusher.hpp"
#include "push/delivery/send_queue.hpp"
#include "scripted_receiver.hpp"

namespace meterbank::push {
namespace {

using namespace std::chrono_literals;
using exposition::kShop;
using exposition::Shop;
using Kind = Outcome::Kind;

Batch batch_of(std::size_t bytes, std::size_t points) {
  return {std::string(bytes, 'x'), points, Protocol::kOtlp};
}

TEST(SendQueue, DropsTheOldestBatchesForNewOnes) {
  SendQueue queue(100);
  EXPECT_EQ(queue.push(batch_of(40, 1)), 0U);
  EXPECT_EQ(queue.push(batch_of(40, 2)), 0U);
  EXPECT_EQ(queue.push(batch_of(40, 4)), 1U);
  EXPECT_EQ(queue.content().bytes, 80U);
  EXPECT_EQ(queue.take()->points, 2U);
}

TEST(SendQueue, CountsABatchThatIsBeingSentAndDoesNotDropIt) {
  SendQueue queue(100);
  EXPECT_EQ(queue.push(batch_of(60, 1)), 0U);
  const Batch taken = *queue.take();
  EXPECT_EQ(queue.content().batches, 1U);
  EXPECT_EQ(queue.push(batch_of(60, 2)), 2U);  // the new one, because nothing else can go
  EXPECT_EQ(queue.push(batch_of(40, 4)), 0U);
  queue.done(taken);
  EXPECT_EQ(queue.content().bytes, 40U);
  EXPECT_EQ(queue.take()->points, 4U);
}

TEST(SendQueue, RefusesABatchThatAloneIsTooLarge) {
  SendQueue queue(100);
  EXPECT_EQ(queue.push(batch_of(10, 1)), 0U);
  EXPECT_EQ(queue.push(batch_of(101, 5)), 6U);
  EXPECT_EQ(queue.content().bytes, 0U);
}

TEST(SendQueue, KeepsNoMoreMemoryThanItCounts) {
  SendQueue queue(100);
  Batch batch = batch_of(50, 1);
  batch.body.reserve(1'000'000);
  EXPECT_EQ(queue.push(std::move(batch)), 0U);
  EXPECT_LE(queue.take()->body.capacity(), 100U);
}

TEST(SendQueue, GivesWhatItHasAfterItWasClosed) {
  SendQueue queue(100);
  static_cast<void>(queue.push(batch_of(10, 1)));
  queue.close();
  EXPECT_EQ(queue.take()->points, 1U);
  EXPECT_FALSE(queue.take());
}

HttpAnswer answer_of(std::uint32_t status, std::string body = {}) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  return answer;
}

TEST(Outcome, IsWhatTheTableSays) {
  for (const Protocol protocol : {Protocol::kOtlp, Protocol::kRemoteWrite1}) {
    const bool is_otlp = protocol == Protocol::kOtlp;
    for (const std::uint32_t status : {200U, 202U, 204U}) {
      EXPECT_EQ(judge(protocol, answer_of(status)).kind, Kind::kSent) << status;
    }
    for (const std::uint32_t status : {0U, 429U, 502U, 503U, 504U}) {
      EXPECT_EQ(judge(protocol, answer_of(status)).kind, Kind::kAgain) << status;
    }
    for (const std::uint32_t status : {301U, 307U, 400U, 401U, 404U, 413U, 415U, 999U}) {
      EXPECT_EQ(judge(protocol, answer_of(status)).kind, Kind::kRefused) << status;
    }
    for (const std::uint32_t status : {500U, 501U, 599U}) {
      EXPECT_EQ(judge(protocol, answer_of(status)).kind, is_otlp ? Kind::kRefused : Kind::kAgain)
          << status;
    }
  }
}

TEST(Outcome, KnowsAReceiverOfRemoteWrite1ByItsAnswer) {
  HttpAnswer written = answer_of(204);
  EXPECT_TRUE(judge(Protocol::kRemoteWrite, written).is_older_receiver);
  EXPECT_EQ(judge(Protocol::kRemoteWrite, written).kind, Kind::kRefused);
  written.has_written_counts = true;
  EXPECT_EQ(judge(Protocol::kRemoteWrite, written).kind, Kind::kSent);
  EXPECT_TRUE(judge(Protocol::kRemoteWrite, answer_of(415)).is_older_receiver);
  EXPECT_FALSE(judge(Protocol::kRemoteWrite, answer_of(400)).is_older_receiver);
}

TEST(Outcome, SaysWhyInTheWordsOfTheReceiverIfTheyAreText) {
  EXPECT_EQ(judge(Protocol::kOtlp, answer_of(400, "out of order\nmore")).reason,
            "status 400: out of order");
  EXPECT_EQ(judge(Protocol::kOtlp, answer_of(400, "\xff\x01")).reason, "status 400");
  EXPECT_EQ(judge(Protocol::kOtlp, answer_of(400, std::string(5000, 'x'))).reason, "status 400");
}

TEST(Backoff, GrowsToHalfAMinuteAndStaysThere) {
  Backoff backoff(1);
  std::chrono::milliseconds usual = 500ms;
  for (int tries = 0; tries < 30; ++tries) {
    const auto wait = backoff.next({});
    EXPECT_GE(wait, usual * 4 / 5);
    EXPECT_LE(wait, usual * 6 / 5);
    usual = std::min<std::chrono::milliseconds>(usual * 2, 30s);
  }
  backoff.reset();
  EXPECT_LE(backoff.next({}), 600ms);
}

TEST(Backoff, WaitsAsLongAsTheReceiverWantsUpToTenMinutes) {
  Backoff backoff(1);
  EXPECT_EQ(backoff.next(7s), 7s);
  EXPECT_EQ(backoff.next(1'000'000s), 600s);
  EXPECT_GT(backoff.next(0s), 0s);
}

TEST(Backoff, IsNotTheSameForAllAgents) {
  std::set<std::int64_t> waits;
  for (std::uint64_t seed = 1; seed < 100; ++seed) waits.insert(Backoff(seed).next({}).count());
  EXPECT_GT(waits.size(), 20U);
}

TEST(Compress, GivesWhatDecompressorsRead) {
  std::string text;
  for (int number = 0; number < 20'000; ++number) text += std::to_string(number * 7919);
  Compressor compressor;
  // Each of them was used for another text before.
  for (const Coding coding : {Coding::kZstd, Coding::kSnappy, Coding::kGzip}) {
    EXPECT_LT(compressor.compress(text + text, coding).size(), 2 * text.size());
  }
  EXPECT_EQ(compressor.compress(text, Coding::kIdentity), text);

  const std::string zstd = compressor.compress(text, Coding::kZstd);
  std::string back(text.size(), '\0');
  EXPECT_EQ(ZSTD_decompress(back.data(), back.size(), zstd.data(), zstd.size()), text.size());
  EXPECT_EQ(back, text);

  back.clear();
  const std::string snappy = compressor.compress(text, Coding::kSnappy);
  EXPECT_TRUE(snappy::Uncompress(snappy.data(), snappy.size(), &back));
  EXPECT_EQ(back, text);

  std::string gzip = compressor.compress(text, Coding::kGzip);
  back.assign(text.size(), '\0');
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  ASSERT_EQ(inflateInit2(&stream, kGzipWindow), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(gzip.data());
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(back.data());
  stream.avail_out = static_cast<uInt>(back.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  EXPECT_EQ(back, text);
}

TEST(ReceiverAddress, IsHttpOrHttps) {
  EXPECT_TRUE(check_url("http://127.0.0.1:4318/v1/metrics"));
  EXPECT_TRUE(check_url("https://[::1]/x"));
  for (const std::string url : {"", "127.0.0.1:4318", "ftp://x/", "file:///etc/passwd", "http://",
                                "http:// x", "http://a b/", "gopher://x"}) {
    const auto checked = check_url(url);
    ASSERT_FALSE(checked) << url;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(ReceiverAddress, IsPrintedWithoutItsPassword) {
  EXPECT_EQ(printable_url("http://me:secret@h:1/x?y=z"), "http://h:1/x?y=z");
  EXPECT_EQ(printable_url("http://h:1/x"), "http://h:1/x");
  EXPECT_EQ(printable_url("ht!tp://me:secret@h"), "(not shown)");
}

TEST(HttpPost, ReadsStatusTextAndHeadersOfAnAnswer) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(
      429, "Retry-After: 7\r\nX-Prometheus-Remote-Write-Samples-Written: 3\r\n", "slowly")});
  HttpPost post = *HttpPost::open(receiver.url(), {"X-Mine: yes"});
  const HttpAnswer answer = post.post("body", 10s);
  EXPECT_EQ(answer.status, 429U);
  EXPECT_EQ(answer.body, "slowly");
  EXPECT_EQ(answer.retry_after, 7s);
  EXPECT_TRUE(answer.has_written_counts);
  const auto request = receiver.requests(1)[0];
  EXPECT_EQ(request.body, "body");
  EXPECT_NE(request.head.find("POST /v1/metrics HTTP/1.1\r\n"), std::string::npos);
  EXPECT_NE(request.head.find("X-Mine: yes\r\n"), std::string::npos);
  EXPECT_NE(request.head.find("User-Agent: meterbank-agent/"), std::string::npos);
  EXPECT_EQ(request.head.find("Expect"), std::string::npos);
}

TEST(HttpPost, SaysWhyThereIsNoAnswer) {
  ScriptedReceiver receiver({"garbage\r\n\r\n", ScriptedReceiver::kClose,
                             "HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\nshort",
                             ScriptedReceiver::kSilence});
  HttpPost post = *HttpPost::open(receiver.url(), {});
  for (int round = 0; round < 2; ++round) {
    const HttpAnswer answer = post.post("x", 10s);
    EXPECT_EQ(answer.status, 0U);
    EXPECT_FALSE(answer.error.empty());
  }
  // The body ends before its end, and then nothing comes at all.
  for (int round = 0; round < 2; ++round) {
    const HttpAnswer answer = post.post("x", 200ms);
    EXPECT_EQ(answer.status, 0U);
    EXPECT_NE(answer.error.find("timed out"), std::string::npos) << answer.error;
  }
}

TEST(HttpPost, KeepsTheFirstBytesOfALongAnswer) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(400, "", std::string(1'000'000, 'x'))});
  HttpPost post = *HttpPost::open(receiver.url(), {});
  EXPECT_EQ(post.post("x", 10s).body.size(), 16'384U);
}

TEST(HttpPost, FollowsNoRedirect) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(307, "Location: http://127.0.0.1:1/\r\n")});
  HttpPost post = *HttpPost::open(receiver.url(), {});
  EXPECT_EQ(post.post("x", 10s).status, 307U);
}

TEST(HttpPost, EndsWhenItIsAborted) {
  ScriptedReceiver receiver({ScriptedReceiver::kSilence});
  HttpPost post = *HttpPost::open(receiver.url(), {});
  std::future<HttpAnswer> answer =
      std::async(std::launch::async, [&post] { return post.post("x", 1h); });
  static_cast<void>(receiver.requests(1));
  post.abort();
  EXPECT_EQ(answer.get().error, "broken off");
  EXPECT_EQ(post.post("x", 1h).error, "broken off");
}

// Counts, and lets a test wait for a count.
class Events final : public PushEvents {
 public:
  void encoded(std::uint64_t /*duration_ns*/) noexcept override {}
  void sent(std::uint64_t points, std::uint64_t /*bytes*/) noexcept override { add(sent_, points); }
  void refused(std::uint64_t points) noexcept override { add(refused_, points); }
  void dropped(std::uint64_t points) noexcept override { add(dropped_, points); }
  void tried_in_vain() noexcept override { add(retries_, 1); }
  void left_out(std::uint64_t snapshots) noexcept override { add(left_out_, snapshots); }
  void queued(std::uint64_t /*batches*/, std::uint64_t bytes) noexcept override {
    const std::lock_guard lock(mutex_);
    most_queued_ = std::max(most_queued_, bytes);
  }

  using Count = std::uint64_t Events::*;
  void wait_for(Count count, std::uint64_t least) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return this->*count >= least; });
  }
  [[nodiscard]] std::uint64_t get(Count count) {
    const std::lock_guard lock(mutex_);
    return this->*count;
  }
  std::uint64_t sent_ = 0, refused_ = 0, dropped_ = 0, retries_ = 0, left_out_ = 0;
  std::uint64_t most_queued_ = 0;

 private:
  void add(std::uint64_t& count, std::uint64_t points) {
    const std::lock_guard lock(mutex_);
    count += points;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
};

class PusherTest : public exposition::PageTest {
 protected:
  PusherTest() : shop_(*provider_->add(kShop)), fruit_(*shop_.create_instance("fruit")) {
    fruit_.add(Shop::kSold, 7U);
  }

  std::unique_ptr<Pusher> start(const ScriptedReceiver& receiver, ReceiverOptions options = {}) {
    options.name = "test";
    options.url = receiver.url();
    if (options.interval == 10s) options.interval = 1h;
    return *Pusher::start(
        options, [this](const Pusher::Ready& ready) { ready(snapshot()); }, events_,
        [this](const std::string& line) {
          const std::lock_guard lock(mutex_);
          reports_.push_back(line);
        });
  }
  [[nodiscard]] std::vector<std::string> reports() {
    const std::lock_guard lock(mutex_);
    return reports_;
  }

  Registration shop_;
  Instance fruit_;
  Events events_;
  std::mutex mutex_;
  std::vector<std::string> reports_;
};

TEST_F(PusherTest, SendsASnapshotAtOnceAndThenAtEachInterval) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(200)});
  const auto pusher = start(receiver, {.interval = 100ms});
  const auto requests = receiver.requests(3);
  EXPECT_NE(requests[0].head.find("Content-Type: application/x-protobuf\r\n"), std::string::npos);
  EXPECT_NE(requests[0].head.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_TRUE(requests[0].body.starts_with("\x1f\x8b"));
  events_.wait_for(&Events::sent_, 30);
  EXPECT_EQ(events_.get(&Events::refused_), 0U);
  EXPECT_TRUE(reports().empty());
}

TEST_F(PusherTest, SendsABatchAgainUntilItIsTaken) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(503), ScriptedReceiver::answer(429),
                             ScriptedReceiver::answer(200)});
  const auto pusher = start(receiver);
  events_.wait_for(&Events::sent_, 1);
  const auto requests = receiver.requests(3);
  EXPECT_EQ(requests[0].body, requests[1].body);
  EXPECT_EQ(requests[0].body, requests[2].body);
  EXPECT_EQ(events_.get(&Events::retries_), 2U);
  const auto said = reports();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], "test: " + receiver.url() + " takes nothing: status 503");
  EXPECT_EQ(said[1], "test: it takes batches again");
}

TEST_F(PusherTest, DoesNotSendAgainWhatWasRefused) {
  ScriptedReceiver receiver(
      {ScriptedReceiver::answer(400, "", "out of order"), ScriptedReceiver::answer(200)});
  const auto pusher = start(receiver, {.interval = 100ms});
  events_.wait_for(&Events::sent_, 1);
  EXPECT_GT(events_.get(&Events::refused_), 0U);
  EXPECT_EQ(events_.get(&Events::retries_), 0U);
  EXPECT_EQ(reports()[0], "test: " + receiver.url() + " refused a batch: status 400: out of order");
}

TEST_F(PusherTest, CountsPointsThatWereRejectedByAReceiverThatTookTheBatch) {
  ScriptedReceiver receiver(
      {ScriptedReceiver::answer(200, "", {"\x0a\x08\x08\x05\x12\x04late", 10})});
  const auto pusher = start(receiver);
  events_.wait_for(&Events::sent_, 1);
  EXPECT_EQ(events_.get(&Events::refused_), 5U);
}

TEST_F(PusherTest, GoesOnWithRemoteWrite1ForAReceiverThatKnowsNothingElse) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(204)});
  const auto pusher = start(receiver, {.protocol = Protocol::kRemoteWrite, .interval = 100ms});
  events_.wait_for(&Events::sent_, 1);
  const auto requests = receiver.requests(2);
  EXPECT_NE(requests[0].head.find("X-Prometheus-Remote-Write-Version: 2.0.0\r\n"),
            std::string::npos);
  EXPECT_NE(requests[1].head.find("X-Prometheus-Remote-Write-Version: 0.1.0\r\n"),
            std::string::npos);
  EXPECT_NE(requests[1].head.find("Content-Encoding: snappy\r\n"), std::string::npos);
  EXPECT_EQ(reports()[0], "test: it does not know remote write 2.0; going on with 1.0");
}

TEST_F(PusherTest, DropsOldBatchesWhileTheReceiverIsAwayAndKeepsItsMemory) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(503, "Retry-After: 3600\r\n")});
  constexpr std::size_t kQueue = 20'000;
  const auto pusher = start(receiver, {.interval = 1ms, .queue_bytes = kQueue});
  events_.wait_for(&Events::dropped_, 500);
  EXPECT_LE(events_.get(&Events::most_queued_), kQueue);
  EXPECT_EQ(events_.get(&Events::sent_), 0U);
}

TEST_F(PusherTest, EndsSoonWhateverTheReceiverDoes) {
  for (const std::string& answer :
       {ScriptedReceiver::answer(503, "Retry-After: 3600\r\n"),
        std::string(ScriptedReceiver::kSilence), ScriptedReceiver::answer(200)}) {
    ScriptedReceiver receiver({answer});
    auto pusher = start(receiver, {.interval = 10ms});
    static_cast<void>(receiver.requests(1));
    // The time given is what ends it: nothing else would within the hour that is asked for.
    pusher->begin_stop(50ms);
    pusher.reset();
  }
}

TEST_F(PusherTest, SendsWhatWaitsBeforeItEnds) {
  ScriptedReceiver receiver({ScriptedReceiver::answer(200)});
  auto pusher = start(receiver);
  static_cast<void>(receiver.requests(1));
  pusher->begin_stop(10s);
  pusher.reset();
  EXPECT_GT(events_.get(&Events::sent_), 0U);
  EXPECT_EQ(events_.get(&Events::dropped_), 0U);
}

TEST_F(PusherTest, EndsWhileItWaitsForASnapshot) {
  Pusher::Ready late;
  std::promise<void> asked;
  {
    const ScriptedReceiver receiver({ScriptedReceiver::answer(200)});
    ReceiverOptions options;
    options.url = receiver.url();
    auto pusher = *Pusher::start(
        options,
        [&](Pusher::Ready ready) {
          late = std::move(ready);
          asked.set_value();
        },
        events_, [](const std::string& /*line*/) {});
    asked.get_future().wait();
    pusher.reset();
  }
  late(snapshot());  // comes too late, and does no harm
}

}  // namespace
}  // namespace meterbank::push
