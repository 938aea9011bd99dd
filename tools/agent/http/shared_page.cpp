// SPDX-License-Identifier: Apache-2.0
#include "agent/http/shared_page.hpp"

#include <algorithm>

namespace meterbank::agent {
namespace {

class SharedBody final : public Body {
 public:
  explicit SharedBody(std::shared_ptr<SharedPage> page) : page_(std::move(page)) {}

  std::size_t read(char* out, std::size_t bytes) override {
    if (!page_->has(position_)) return catch_up();
    const std::size_t count = page_->read(position_, out, bytes);
    position_ += count;
    return count;
  }
  [[nodiscard]] std::uint64_t page_bytes() const noexcept override { return page_->page_bytes(); }

 private:
  // Writes the beginning again, up to what was read, but no more than a window at once: others wait
  // meanwhile.
  std::size_t catch_up() {
    if (!std::exchange(is_alone_, true)) page_ = page_->again();
    for (std::size_t done = 0; done < SharedPage::kWindowBytes && !page_->has(position_);
         done += SharedPage::kPieceBytes) {
      if (!page_->write_piece()) break;
    }
    return kLater;
  }

  std::shared_ptr<SharedPage> page_;
  std::uint64_t position_ = 0;
  bool is_alone_ = false;
};

}  // namespace

bool SharedPage::write_piece() {
  std::string piece(kPieceBytes, '\0');
  // A compressor makes the same bytes of the same calls alone, so all of them have one size.
  piece.resize(body_->read(piece.data(), piece.size()));
  if (piece.empty()) return false;
  end_ += piece.size();
  pieces_.push_back(std::move(piece));
  while (end_ - begin_ > kWindowBytes) {
    begin_ += pieces_.front().size();
    pieces_.pop_front();
  }
  return true;
}

std::size_t SharedPage::read(std::uint64_t position, char* out, std::size_t bytes) {
  if (position == end_ && !write_piece()) return 0;
  std::uint64_t at = begin_;
  for (const std::string& piece : pieces_) {
    if (position < at + piece.size()) {
      const std::size_t offset = static_cast<std::size_t>(position - at);
      const std::size_t count = std::min(bytes, piece.size() - offset);
      return piece.copy(out, count, offset);
    }
    at += piece.size();
  }
  return 0;
}

std::unique_ptr<Body> SharedPages::join(std::uint64_t taken_ns, const std::string& asked_for,
                                        SharedPage::Make make) {
  if (std::exchange(taken_ns_, taken_ns) != taken_ns) pages_.clear();
  std::weak_ptr<SharedPage>& known = pages_[asked_for];
  std::shared_ptr<SharedPage> page = known.lock();
  if (page == nullptr) {
    page = std::make_shared<SharedPage>(std::move(make));
    known = page;
  }
  return std::make_unique<SharedBody>(std::move(page));
}

}  // namespace meterbank::agent
