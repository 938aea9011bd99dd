// SPDX-License-Identifier: Apache-2.0
//
// One page for several clients that asked for the same thing at the same time: it is written and
// compressed once, and each client reads it at its own pace.
//
//   written and forgotten        window, at most kWindowBytes        not yet written
//   ...........................[ piece | piece | piece | piece ]............................
//                ^ too slow                ^ reads       ^ reads: the next piece is written
//
// A client that falls behind the window gets a page of its own, which is the same to the byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "agent/http/body.hpp"

namespace meterbank::agent {

// Thread safety  One thread at a time.
class SharedPage {
 public:
  // Each call makes the page anew. May throw std::bad_alloc.
  using Make = std::function<std::unique_ptr<Body>()>;

  static constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
  static constexpr std::size_t kWindowBytes = std::size_t{1} << 20;

  explicit SharedPage(Make make) : make_(std::move(make)), body_(make_()) {}

  // Whether `position` is in the window, or at its end.
  [[nodiscard]] bool has(std::uint64_t position) const noexcept {
    return position >= begin_ && position <= end_;
  }
  // Fills `out` with up to `bytes`, and writes the next piece if need be. Precondition:
  // has(position). 0: the end.
  [[nodiscard]] std::size_t read(std::uint64_t position, char* out, std::size_t bytes);
  // False: the page was at its end.
  bool write_piece();
  [[nodiscard]] std::uint64_t page_bytes() const noexcept { return body_->page_bytes(); }
  // The same page, of which nothing has been written.
  [[nodiscard]] std::shared_ptr<SharedPage> again() const {
    return std::make_shared<SharedPage>(make_);
  }

 private:
  Make make_;
  std::unique_ptr<Body> body_;
  std::deque<std::string> pieces_;
  std::uint64_t begin_ = 0, end_ = 0;  // positions of the window in the page
};

// The pages of one snapshot, by what was asked for.
//
// Thread safety  One thread at a time, which may be another one than that of the pages.
class SharedPages {
 public:
  // What one client reads. `taken_ns` tells snapshots apart.
  [[nodiscard]] std::unique_ptr<Body> join(std::uint64_t taken_ns, const std::string& asked_for,
                                           SharedPage::Make make);

 private:
  std::uint64_t taken_ns_ = 0;
  std::map<std::string, std::weak_ptr<SharedPage>> pages_;
};

}  // namespace meterbank::agent
