// SPDX-License-Identifier: Apache-2.0
//
// What a query makes of a provider that answers late, twice, wrongly or never.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "../../support/cooked_values.hpp"
#include "../../support/descriptors.hpp"
#include "../../support/sample_words.hpp"
#include "../../support/scripted_provider.hpp"
#include "../../support/temporary_directory.hpp"
#include "../../support/wave_schema.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

using namespace std::chrono_literals;
using test::kWaves;
using test::open_descriptors;
using test::plain_answer;
using test::rows_answer;
using test::ScriptedProvider;
using test::ScriptedRow;
using test::TemporaryDirectory;

constexpr auto kTimeout = 20s;        // for answers that come
constexpr auto kShortTimeout = 50ms;  // for those that do not

const ScriptedRow kRed{3, "red", {10, 20, 30, 40}};
const ScriptedRow kBlue{4, "blue", {11, 21, 31, 41}};

bool is_ask(const ChannelRequest& request) {
  return request.type == MessageType::kCollect || request.type == MessageType::kEnumerate;
}

class CallbackPeer : public testing::Test {
 protected:
  Catalog catalog() {
    auto catalog = *Catalog::open({.directory = directory_.path()});
    catalog.refresh();
    return catalog;
  }

  // What a query makes of a provider with one script, asked once.
  struct Seen {
    AnswerOutcome outcome{};
    ChannelRefusal refusal{};
    std::size_t rows = 0;
    AskCounts counts;
  };
  Seen ask_once(ScriptedProvider::Script script, std::chrono::nanoseconds timeout = kTimeout) {
    ScriptedProvider peer(directory_.path(), kWaves, std::move(script));
    Catalog catalog = this->catalog();
    Query query = *Query::compile(catalog, {"waves/*/height"});
    Sample sample;
    const CollectSummary summary = query.collect(sample, timeout);
    const CallbackAnswer& answer = sample.callbacks->front();
    EXPECT_EQ(summary.unanswered, has_rows(answer.outcome) ? 0U : 1U);
    return {answer.outcome, answer.refusal, summary.rows, query.ask_counts()};
  }
  // A packet in place of the answer.
  Seen answer_with(const std::function<std::vector<std::byte>(std::uint64_t id)>& make) {
    return ask_once([make](PacketSocket& to, const ChannelRequest& request) {
      if (is_ask(request)) to.send(make(request.id));
    });
  }
  Seen answer_with_rows(const std::vector<ScriptedRow>& rows) {
    return answer_with([rows](std::uint64_t id) { return rows_answer(id, rows); });
  }

  TemporaryDirectory directory_;
};

TEST_F(CallbackPeer, TakesSoundRows) {
  const Seen seen = answer_with_rows({kRed, kBlue});
  EXPECT_EQ(seen.outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(seen.rows, 2U);
  EXPECT_EQ(seen.counts.dropped, 0U);
  EXPECT_EQ(seen.counts.malformed, 0U);
}

TEST_F(CallbackPeer, RowsThatBreakTheSchemaAreNotTaken) {
  const std::vector<std::pair<std::string, ScriptedRow>> wrong{
      {"too few values", {3, "red", {1, 2, 3}}},
      {"too many values", {3, "red", {1, 2, 3, 4, 5}}},
      {"no values", {3, "red", {}}},
      {"no name", {3, "", {1, 2, 3, 4}}},
      {"control character", {3, "r\x1b", {1, 2, 3, 4}}},
      {"not UTF-8", {3, "r\xff", {1, 2, 3, 4}}},
      {"reserved id", {kAnyInstanceId, "red", {1, 2, 3, 4}}},
      {"the id of totals", {kInstanceIdMax + 1, "red", {1, 2, 3, 4}}},
  };
  for (const auto& [what, row] : wrong) {
    const Seen seen = answer_with_rows({kBlue, row});
    EXPECT_EQ(seen.outcome, AnswerOutcome::kMalformed) << what;
    EXPECT_EQ(seen.rows, 0U) << what;
    EXPECT_EQ(seen.counts.malformed, 1U) << what;
  }
}

TEST_F(CallbackPeer, PacketsThatAreNoAnswersEndTheConnection) {
  const auto sound = [](std::uint64_t id) { return rows_answer(id, {kRed}); };
  const std::vector<std::pair<std::string, std::function<void(std::vector<std::byte>&)>>> wrong{
      {"one byte", [](auto& packet) { packet.resize(1); }},
      {"cut in its header", [](auto& packet) { packet.resize(20); }},
      {"cut in its rows", [](auto& packet) { packet.resize(packet.size() - 8); }},
      {"longer than it says", [](auto& packet) { packet.resize(packet.size() + 8); }},
      {"longer than any", [](auto& packet) { packet.resize(kPacketBytesMax + 8); }},
      {"another magic", [](auto& packet) { packet[0] = std::byte{0}; }},
      {"another version", [](auto& packet) { packet[4] = std::byte{9}; }},
      {"a request", [](auto& packet) { packet[6] = std::byte{4}; }},
  };
  for (const auto& [what, spoil] : wrong) {
    const Seen seen = answer_with([&, &spoil = spoil](std::uint64_t id) {
      auto packet = sound(id);
      spoil(packet);
      return packet;
    });
    EXPECT_EQ(seen.outcome, AnswerOutcome::kMalformed) << what;
    EXPECT_EQ(seen.counts.malformed, 1U) << what;
  }
}

TEST_F(CallbackPeer, DoneIsNoAnswerToAQuestion) {
  const Seen seen =
      answer_with([](std::uint64_t id) { return plain_answer(MessageType::kDone, id); });
  EXPECT_EQ(seen.outcome, AnswerOutcome::kMalformed);
}

TEST_F(CallbackPeer, ARefusalComesWithItsReason) {
  const Seen seen = answer_with([](std::uint64_t id) {
    return plain_answer(MessageType::kRefused, id, ChannelRefusal::kClosing);
  });
  EXPECT_EQ(seen.outcome, AnswerOutcome::kRefused);
  EXPECT_EQ(seen.refusal, ChannelRefusal::kClosing);
}

TEST_F(CallbackPeer, AnswersToOtherQuestionsAreDroppedAndCounted) {
  const Seen seen = ask_once([](PacketSocket& to, const ChannelRequest& request) {
    if (!is_ask(request)) return;
    to.send(rows_answer(request.id + 1000, {kBlue}));  // never asked
    to.send(rows_answer(request.id, {kRed}));
    to.send(rows_answer(request.id, {kBlue}));  // a second time
  });
  EXPECT_EQ(seen.outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(seen.rows, 1U);
  EXPECT_GE(seen.counts.dropped, 1U);
}

TEST_F(CallbackPeer, TheSecondAnswerToOneQuestionChangesNothing) {
  ScriptedProvider peer(directory_.path(), kWaves, [](PacketSocket& to, const auto& request) {
    if (!is_ask(request)) return;
    to.send(rows_answer(request.id, {kRed}));
    to.send(rows_answer(request.id, {kBlue}));
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  for (int round = 0; round < 3; ++round) {
    query.collect(sample, kTimeout);
    ASSERT_EQ(content_of(sample).plan->rows, 1U);
    EXPECT_EQ(test::cooked_values(nullptr, sample).front().instance().name, "red");
  }
  EXPECT_GE(query.ask_counts().dropped, 2U);
  EXPECT_EQ(query.ask_counts().malformed, 0U);
}

// The reader asks on after a timeout only when the late answer has come, and drops that one.
TEST_F(CallbackPeer, ALateAnswerIsDroppedAndTheNextQuestionHasAnAnswerOfItsOwn) {
  std::optional<std::uint64_t> late;
  ScriptedProvider peer(directory_.path(), kWaves, [&](PacketSocket& to, const auto& request) {
    if (request.type == MessageType::kCollect && !late) {
      late = request.id;  // as if it took long
    } else if (request.type == MessageType::kCollect) {
      to.send(rows_answer(request.id, {kRed}));
    } else if (request.type == MessageType::kCancel && request.id == late) {
      to.send(rows_answer(request.id, {kBlue}));
    }
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  EXPECT_EQ(query.collect(sample, kShortTimeout).unanswered, 1U);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kTimeout);
  EXPECT_EQ(sample.callbacks->front().reason(), "no answer within 0.05 s");
  query.collect(sample, kTimeout);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(test::cooked_values(nullptr, sample).front().instance().name, "red");
  EXPECT_EQ(query.ask_counts().dropped, 1U);
}

TEST_F(CallbackPeer, AProviderThatHangsIsAskedOnceAndToldToStop) {
  ScriptedProvider peer(directory_.path(), kWaves, [](PacketSocket&, const auto&) {});
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  for (int round = 0; round < 6; ++round) {
    query.collect(sample, 5ms);
    EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kTimeout);
  }
  peer.await(MessageType::kCancel, 1);
  EXPECT_EQ(peer.requests(MessageType::kCollect).size(), 1U);
  EXPECT_EQ(peer.requests(MessageType::kCancel).front().id,
            peer.requests(MessageType::kCollect).front().id);
}

// Rows of the answer before must not pass for new ones.
TEST_F(CallbackPeer, RowsWithoutANewAnswerHoldNothing) {
  std::atomic<int> behaviour{0};
  ScriptedProvider peer(directory_.path(), kWaves, [&](PacketSocket& to, const auto& request) {
    if (!is_ask(request)) return;
    switch (behaviour.load(std::memory_order_relaxed)) {
      case 0:
        to.send(rows_answer(request.id, {kRed}));
        break;
      case 1:
        to.send(plain_answer(MessageType::kBusy, request.id));
        break;
      case 2:
        to.send(plain_answer(MessageType::kRefused, request.id, ChannelRefusal::kRate));
        break;
      default:
        break;
    }
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample good, sample;
  query.collect(good, kTimeout);
  EXPECT_EQ(content_of(good).status, std::vector{RowStatus::kFresh});
  const auto collect = [&](int now, std::chrono::nanoseconds timeout) {
    behaviour = now;
    query.collect(sample, timeout);
    EXPECT_EQ(content_of(sample).row(0)[0], 0U);
    EXPECT_EQ(test::cooked_values(good, sample).front().cooked.status, CookStatus::kNoValue);
    return content_of(sample).status.at(0);
  };
  // A busy provider is asked again until the timeout, which leaves it time to answer once.
  EXPECT_EQ(collect(1, 1s), RowStatus::kOverloaded);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kBusy);
  EXPECT_EQ(collect(2, kTimeout), RowStatus::kUnanswered);
  EXPECT_EQ(collect(3, kShortTimeout), RowStatus::kTimeout);
  query.collect(sample);
  EXPECT_EQ(content_of(sample).status, std::vector{RowStatus::kTimeout});  // no request since
}

TEST_F(CallbackPeer, ABusyProviderIsAskedAgain) {
  int busy = 4;
  ScriptedProvider peer(directory_.path(), kWaves, [&](PacketSocket& to, const auto& request) {
    if (!is_ask(request)) return;
    if (busy-- > 0) to.send(plain_answer(MessageType::kBusy, request.id));
    if (busy < 0) to.send(rows_answer(request.id, {kRed}));
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  EXPECT_EQ(query.collect(sample, kTimeout).rows, 1U);
  std::vector<std::uint64_t> ids;
  for (const ChannelRequest& request : peer.requests(MessageType::kCollect)) {
    ids.push_back(request.id);
  }
  ASSERT_EQ(ids.size(), 5U);
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST_F(CallbackPeer, AProviderThatHangsUpIsGoneAndAskedAgainOnANewConnection) {
  std::atomic<bool> is_rude{true};
  ScriptedProvider peer(directory_.path(), kWaves, [&](PacketSocket& to, const auto& request) {
    if (!is_ask(request)) return;
    if (is_rude) {
      to = PacketSocket();
    } else {
      to.send(rows_answer(request.id, {kRed}));
    }
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kGone);
  is_rude = false;
  EXPECT_EQ(query.collect(sample, kTimeout).rows, 1U);
  // With the connection the interest was gone.
  EXPECT_EQ(peer.requests(MessageType::kAddInterest).size(), 2U);
}

TEST_F(CallbackPeer, AMissingPeerIsGoneAtOnce) {
  auto peer = std::make_unique<ScriptedProvider>(directory_.path(), kWaves,
                                                 [](PacketSocket&, const auto&) {});
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves"});
  peer.reset();
  Sample sample;
  query.collect(sample, kTimeout);
  EXPECT_EQ(sample.callbacks->front().outcome, AnswerOutcome::kGone);
}

// One provider hangs; the others lose no more than the timeout.
TEST_F(CallbackPeer, TwentyAnswerBesideOneThatHangs) {
  const auto answer = [](PacketSocket& to, const ChannelRequest& request) {
    if (is_ask(request)) to.send(rows_answer(request.id, {kRed}));
  };
  std::vector<std::unique_ptr<ScriptedProvider>> healthy;
  ScriptedProvider hung(
      directory_.path(), kWaves, [](PacketSocket&, const auto&) {}, "hung");
  for (int index = 0; index < 20; ++index) {
    healthy.push_back(std::make_unique<ScriptedProvider>(directory_.path(), kWaves, answer,
                                                         "healthy" + std::to_string(index)));
  }
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  const CollectSummary summary = query.collect(sample, 500ms);
  EXPECT_EQ(summary.rows, 20U);
  EXPECT_EQ(summary.not_fresh, 0U);
  EXPECT_EQ(summary.unanswered, 1U);
  ASSERT_EQ(sample.callbacks->size(), 21U);
  for (const CallbackAnswer& each : *sample.callbacks) {
    EXPECT_EQ(each.outcome,
              each.provider->name == "hung" ? AnswerOutcome::kTimeout : AnswerOutcome::kAnswered);
  }
}

TEST_F(CallbackPeer, SendsInterestOncePerMaskAndBeforeTheFirstRequest) {
  ScriptedProvider peer(directory_.path(), kWaves, [](PacketSocket& to, const auto& request) {
    if (is_ask(request)) to.send(rows_answer(request.id, {kRed}));
  });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"waves/*/height"});
  Sample sample;
  for (int round = 0; round < 3; ++round) query.collect(sample, kTimeout);
  const auto added = peer.requests(MessageType::kAddInterest);
  ASSERT_EQ(added.size(), 1U);
  EXPECT_EQ(added.front().counter_mask, std::vector<std::uint64_t>{2});
  EXPECT_TRUE(peer.requests(MessageType::kRemoveInterest).empty());
  EXPECT_LT(added.front().id, peer.requests(MessageType::kCollect).front().id);
}

// ---- Rows beside the packet ----

UniqueFd memory_of(const std::vector<std::byte>& bytes, std::size_t size, int seals) {
  UniqueFd memory(::memfd_create("rows", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  static_cast<void>(!::ftruncate(memory.get(), static_cast<off_t>(size)));
  static_cast<void>(!::pwrite(memory.get(), bytes.data(), bytes.size(), 0));
  if (seals != 0) ::fcntl(memory.get(), F_ADD_SEALS, seals);
  return memory;
}

constexpr int kAllSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

class CallbackPeerMemory : public CallbackPeer {
 protected:
  static constexpr std::size_t kPage = 4096;

  static std::vector<std::byte> rows_bytes(std::size_t count) {
    RowsEncoder encoder;
    for (std::uint32_t id = 0; id < count; ++id) {
      encoder.add(id, "row" + std::to_string(id), kRed.values);
    }
    return {encoder.bytes().begin(), encoder.bytes().end()};
  }
  static std::size_t pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  static std::vector<std::byte> announced(std::uint64_t id, std::uint32_t rows,
                                          std::uint64_t bytes) {
    ChannelAnswer answer;
    answer.id = id;
    answer.rows = rows;
    answer.flags = kRowsInMemory;
    answer.rows_bytes = bytes;
    return encode(answer);
  }
  // Announces 3,000 rows and hands over whatever is given.
  Seen hand_over(const std::function<UniqueFd(const std::vector<std::byte>&)>& make) {
    return ask_once([make](PacketSocket& to, const ChannelRequest& request) {
      if (!is_ask(request)) return;
      const auto bytes = rows_bytes(3000);
      const UniqueFd memory = make(bytes);
      to.send(announced(request.id, 3000, bytes.size()), memory.get());
    });
  }
};

TEST_F(CallbackPeerMemory, RowsBeyondAPacketComeInSealedMemory) {
  const Seen seen =
      hand_over([](const auto& bytes) { return memory_of(bytes, pages(bytes.size()), kAllSeals); });
  EXPECT_EQ(seen.outcome, AnswerOutcome::kAnswered);
  EXPECT_EQ(seen.rows, 3000U);
}

TEST_F(CallbackPeerMemory, MemoryThatCouldChangeOrFaultIsNotTouched) {
  const std::vector<std::pair<std::string, std::function<UniqueFd(const std::vector<std::byte>&)>>>
      wrong{
          {"not sealed",
           [](const auto& bytes) { return memory_of(bytes, pages(bytes.size()), 0); }},
          {"may shrink",
           [](const auto& bytes) {
             return memory_of(bytes, pages(bytes.size()), F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
           }},
          {"with holes",
           [](const auto& bytes) {
             return memory_of({bytes.begin(), bytes.begin() + 8}, pages(bytes.size()), kAllSeals);
           }},
          {"shorter than announced",
           [](const auto& bytes) {
             return memory_of({bytes.begin(), bytes.begin() + kPage}, kPage, kAllSeals);
           }},
          {"a pipe",
           [](const auto&) {
             std::array<int, 2> ends{};
             static_cast<void>(!::pipe2(ends.data(), O_CLOEXEC));
             ::close(ends[1]);
             return UniqueFd(ends[0]);
           }},
          {"a file",
           [this](const auto& bytes) {
             UniqueFd file(
                 ::open((directory_.path() + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
             static_cast<void>(!::pwrite(file.get(), bytes.data(), bytes.size(), 0));
             return file;
           }},
          {"no descriptor", [](const auto&) { return UniqueFd(); }},
      };
  for (const auto& [what, make] : wrong) {
    const Seen seen = hand_over(make);
    EXPECT_EQ(seen.outcome, AnswerOutcome::kMalformed) << what;
    EXPECT_EQ(seen.rows, 0U) << what;
  }
}

TEST_F(CallbackPeerMemory, ClosesDescriptorsThatWereNotRequested) {
  const std::ptrdiff_t before = open_descriptors();
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{253}}) {
    const Seen seen = ask_once([count](PacketSocket& to, const ChannelRequest& request) {
      if (!is_ask(request)) return;
      EXPECT_TRUE(test::send_raw(to.descriptor(), rows_answer(request.id, {kRed}),
                                 std::vector<int>(count, STDERR_FILENO)));
    });
    EXPECT_EQ(seen.outcome, AnswerOutcome::kMalformed) << count;
  }
  EXPECT_EQ(open_descriptors(), before);
}

// The library registers no such set; a foreign provider may.
TEST_F(CallbackPeer, AnAnswerHoldsNothingOfCountersThatAreMoreThanANumber) {
  constexpr std::array kCounters{CounterSpec{.id = 1, .name = "Height", .symbol = "height"},
                                 CounterSpec{.id = 2,
                                             .name = "Sizes",
                                             .symbol = "sizes",
                                             .form = ValueForm::kDistribution,
                                             .buckets = {.scale = 8, .least = 1, .most = 200}},
                                 CounterSpec{.id = 3,
                                             .name = "State",
                                             .symbol = "state",
                                             .type = CounterType::kText,
                                             .form = ValueForm::kText,
                                             .timed = true,
                                             .text_bytes = 256}};
  ScriptedProvider peer(directory_.path(),
                        {.name = "Tides", .symbol = "tides", .counters = kCounters},
                        [](PacketSocket& to, const ChannelRequest& request) {
                          if (is_ask(request))
                            to.send(rows_answer(request.id, {{3, "red", {10, 20, ~0ULL}}}));
                        });
  Catalog catalog = this->catalog();
  Query query = *Query::compile(catalog, {"tides/*/*"});
  Sample sample;
  query.collect(sample, kTimeout);
  std::map<std::string, test::KeptValue> rows;
  for (const test::KeptValue& row : test::cooked_values(nullptr, sample))
    rows[row.counter->symbol] = row;

  EXPECT_EQ(rows.at("height").raw.value, 10U);
  EXPECT_EQ(rows.at("sizes").distribution, nullptr);
  EXPECT_EQ(rows.at("state").set_ns, 0U);
  EXPECT_EQ(*rows.at("state").text, std::string(256, '\0'));
}

TEST_F(CallbackPeer, AnswersOfEveryKindLeaveNoDescriptorBehind) {
  const std::ptrdiff_t before = open_descriptors();
  for (int round = 0; round < 50; ++round) {
    answer_with_rows({kRed});
    ask_once([](PacketSocket& to, const auto&) { to = PacketSocket(); });
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace meterbank
