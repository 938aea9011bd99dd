// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the answer of a provider, taken as a query takes it: the packet, its rows, the rows
// in private memory, and what a plan sees of them.
#pragma once

#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "answers/answered_rows.hpp"
#include "answers/read_rows.hpp"
#include "meterbank/shm/channel.hpp"
#include "meterbank/shm/names.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

class HostileAnswer {
 public:
  HostileAnswer() {
    auto set = std::make_shared<Counterset>();
    set->name = "Waves";
    set->instances = InstanceKind::kMultiple;
    set->counters.resize(kCounters);
    for (std::uint32_t word = 0; word < kCounters; ++word) set->counters[word].word = word;
    registered_.set = std::move(set);
    registered_.generation = 1;
    // As much of a provider's memory as a view needs.
    auto* const header = reinterpret_cast<SegmentHeader*>(memory_.data());
    header->layout_major = kLayoutMajor;
    header->abi_mark = kAbiMark;
    header->header_bytes = sizeof(SegmentHeader);
    header->magic.store(kSegmentMagic, std::memory_order_relaxed);  // one thread
    auto provider = std::make_shared<ProviderView>();
    provider->segment =
        *MappedSegment::attach(MappedExtent::over({memory_.data(), memory_.size()}));
    provider_ = std::move(provider);
    rows_.emplace(registered_);
  }

  static constexpr std::uint32_t kCounters = 3;

  // An answer that holds together, to begin with.
  static std::vector<std::byte> sound(std::uint32_t rows) {
    RowsEncoder encoder;
    for (std::uint32_t id = 0; id < rows; ++id) {
      encoder.add(id, "row " + std::to_string(id % 7), std::vector<std::uint64_t>(kCounters, id));
    }
    ChannelAnswer answer;
    answer.id = 1;
    answer.rows = encoder.rows();
    answer.bytes = encoder.bytes();
    answer.rows_bytes = answer.bytes.size();
    answer.text = "water";
    return encode(answer);
  }

  // The provider damages its header after it was read.
  void damage_header() {
    reinterpret_cast<SegmentHeader*>(memory_.data())->magic.store(0, std::memory_order_relaxed);
  }

  // True: it was taken. Every promise about what was taken is checked; false in `kept` breaks one.
  bool take(std::span<const std::byte> packet, bool& kept) {
    // The copy is aligned, and no longer than it says: a sanitizer sees every byte beyond.
    std::vector<std::uint64_t> words((packet.size() + 7) / 8);
    if (!packet.empty()) std::memcpy(words.data(), packet.data(), packet.size());
    const auto answer = decode_answer(std::as_bytes(std::span(words)).first(packet.size()));
    if (!answer || answer->type != MessageType::kRows) return false;
    const auto read =
        read_rows(answer->bytes, answer->rows, MessageType::kEnumerate, {}, *registered_.set);
    if (!read) return false;
    kept = kept && read->rows.size() <= answer->rows;
    const std::size_t taken = rows_->take(read->rows, answer->finished_ns);
    const auto view = rows_->view(provider_, registered_);
    kept = kept && view != nullptr && view->sets.size() == 1;
    if (!kept) return true;
    const RegisteredSet& set = view->sets.front();
    kept = taken == set.instances.size() && taken <= read->rows.size();
    for (const InstanceView& instance : set.instances) {
      kept = kept && check_name(instance.name, NameKind::kInstance).ok() &&
             instance.id <= kInstanceIdMax && !instance.closed;
    }
    return true;
  }

 private:
  alignas(kCacheLine) std::array<std::byte, sizeof(SegmentHeader)> memory_{};
  RegisteredSet registered_;
  std::shared_ptr<const ProviderView> provider_;
  std::optional<AnsweredRows> rows_;
};

}  // namespace meterbank::test
