// SPDX-License-Identifier: Apache-2.0
#include "agent/http/shared_page.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace meterbank::agent {
namespace {

constexpr std::size_t kPageBytes = std::size_t{5} << 19;

// Letters that hardly compress.
const std::string& letters() {
  static const std::string all = [] {
    std::mt19937 engine(7);
    std::string text(kPageBytes, '\0');
    for (char& letter : text) letter = static_cast<char>(' ' + engine() % 95);
    return text;
  }();
  return all;
}

class Letters final : public exposition::PageWriter {
 public:
  bool write(std::string& out, std::size_t bytes) override {
    if (written_ == kPageBytes) return false;
    const std::size_t before = out.size();
    out.append(letters(), written_, bytes);
    written_ += out.size() - before;
    return true;
  }

 private:
  std::size_t written_ = 0;
};

class SharedPageOf : public ::testing::TestWithParam<Encoding> {
 protected:
  // A client of the page that all clients of this test have asked for.
  std::unique_ptr<Body> client() {
    return pages_.join(1, "metrics", [this] {
      ++made_;
      return make_body(std::make_unique<Letters>(), GetParam());
    });
  }
  // False: the end.
  static bool read_some(Body& client, std::string& text, std::size_t bytes) {
    std::string piece(bytes, '\0');
    const std::size_t count = client.read(piece.data(), piece.size());
    if (count == Body::kLater) return true;
    text.append(piece, 0, count);
    return count != 0;
  }
  static std::string read_all(Body& client) {
    std::string text;
    while (read_some(client, text, SharedPage::kPieceBytes)) {
    }
    return text;
  }
  [[nodiscard]] static std::string expected() {
    return read_all(*make_body(std::make_unique<Letters>(), GetParam()));
  }

  SharedPages pages_;
  std::size_t made_ = 0;
};

TEST_P(SharedPageOf, IsWrittenOnceForClientsThatKeepPace) {
  const std::string all = expected();
  std::vector<std::unique_ptr<Body>> clients;
  std::vector<std::string> texts(5);
  while (clients.size() < texts.size()) clients.push_back(client());
  // In steps of their own, and never a window apart.
  constexpr std::size_t kApart = SharedPage::kWindowBytes / 4;
  for (std::size_t target = 0; target < all.size() + kApart; target += kApart) {
    for (std::size_t number = 0; number < clients.size(); ++number) {
      while (texts[number].size() < target &&
             read_some(*clients[number], texts[number], 10'000 * (number + 1))) {
      }
    }
  }
  EXPECT_EQ(made_, 1U);
  for (const std::string& text : texts) EXPECT_EQ(text, all);
}

TEST_P(SharedPageOf, IsTheSameForAClientThatFellBehind) {
  const std::string all = expected();
  const auto slow = client();
  std::string text;
  read_some(*slow, text, 100'000);
  const auto fast = client();
  EXPECT_EQ(read_all(*fast), all);
  EXPECT_EQ(made_, 1U);

  while (read_some(*slow, text, 100'000)) {
  }
  EXPECT_EQ(made_, 2U);
  EXPECT_EQ(text, all);
}

TEST_P(SharedPageOf, IsAnotherOneWhereSomethingElseWasAskedFor) {
  const auto first = client();
  const auto other = pages_.join(1, "metrics/host", [] {
    return make_body(std::make_unique<Letters>(), Encoding::kIdentity);
  });
  const auto later = pages_.join(2, "metrics", [this] {
    ++made_;
    return make_body(std::make_unique<Letters>(), Encoding::kIdentity);
  });
  EXPECT_EQ(made_, 2U);
  EXPECT_EQ(read_all(*other).size(), kPageBytes);
  EXPECT_EQ(read_all(*later).size(), kPageBytes);
  EXPECT_EQ(read_all(*first), expected());
}

TEST(SharedPage, KeepsNoMoreThanItsWindow) {
  SharedPage page([] { return make_body(std::make_unique<Letters>(), Encoding::kIdentity); });
  while (page.write_piece()) {
  }
  const std::uint64_t position = page.page_bytes();
  EXPECT_TRUE(page.has(position));
  EXPECT_TRUE(page.has(position - (SharedPage::kWindowBytes - SharedPage::kPieceBytes)));
  EXPECT_FALSE(page.has(position - SharedPage::kWindowBytes - 1));
}

class BodyOf : public ::testing::TestWithParam<Encoding> {};

// A compressor by itself would wait for more of the page.
TEST_P(BodyOf, HasBytesForTheClientAfterAShortPieceOfThePage) {
  const auto body = make_body(std::make_unique<Letters>(), GetParam());
  std::string piece(SharedPage::kPieceBytes, '\0');
  EXPECT_GT(body->read(piece.data(), piece.size()), 1'000U);
  EXPECT_LE(body->page_bytes(), 16'384U);
}

INSTANTIATE_TEST_SUITE_P(OfEachEncoding, BodyOf,
                         ::testing::Values(Encoding::kIdentity, Encoding::kGzip, Encoding::kZstd));
INSTANTIATE_TEST_SUITE_P(OfEachEncoding, SharedPageOf,
                         ::testing::Values(Encoding::kIdentity, Encoding::kGzip, Encoding::kZstd));

// Lines that compress well.
class Lines final : public exposition::PageWriter {
 public:
  bool write(std::string& out, std::size_t bytes) override {
    constexpr std::uint64_t kLines = 100'000;
    if (written_ == kLines) return false;
    for (const std::size_t end = out.size() + bytes; written_ < kLines && out.size() < end;) {
      const std::uint64_t number = ++written_;
      out += "requests_total{route=\"/api/" + std::to_string(number) + "\"} " +
             std::to_string(number * number) + "\n";
    }
    return true;
  }

 private:
  std::uint64_t written_ = 0;
};

TEST(BodyOfZstd, LeavesInLargeMessagesButForTheFirstAndTheLast) {
  const std::unique_ptr<Body> body = make_body(std::make_unique<Lines>(), Encoding::kZstd);
  std::vector<std::size_t> messages;
  std::string piece(SharedPage::kPieceBytes, '\0');
  while (const std::size_t bytes = body->read(piece.data(), piece.size()))
    messages.push_back(bytes);
  ASSERT_GT(messages.size(), 4U);
  EXPECT_LT(messages.front(), piece.size() / 2);
  for (std::size_t number = 1; number + 1 < messages.size(); ++number) {
    EXPECT_GE(messages[number], piece.size() / 2) << "message " << number;
  }
}

}  // namespace
}  // namespace meterbank::agent
