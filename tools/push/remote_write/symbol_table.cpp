// SPDX-License-Identifier: Apache-2.0
#include "push/remote_write/symbol_table.hpp"

#include <algorithm>
#include <functional>
#include <protozero/pbf_builder.hpp>

#include "push/remote_write/write_fields.hpp"

namespace meterbank::push::remote_write {
namespace {

constexpr std::size_t kPlacesAtFirst = 64;

}  // namespace

SymbolTable::SymbolTable() : places_(kPlacesAtFirst) { clear(); }

void SymbolTable::clear() {
  message_.clear();
  texts_.clear();
  std::fill(places_.begin(), places_.end(), 0);
  static_cast<void>(ref_of({}));
}

std::uint32_t SymbolTable::ref_of(std::string_view text) {
  const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
  const std::size_t mask = places_.size() - 1;
  std::size_t place = hash & mask;
  for (; places_[place] != 0; place = (place + 1) & mask) {
    const Text& known = texts_[places_[place] - 1];
    const bool is_same =
        known.hash == hash && std::string_view(message_).substr(known.begin, known.size) == text;
    if (is_same) return places_[place] - 1;
  }
  protozero::pbf_builder<Request2>(message_).add_string(Request2::kSymbols, text.data(),
                                                        text.size());
  texts_.push_back({message_.size() - text.size(), text.size(), hash});
  const auto ref = static_cast<std::uint32_t>(texts_.size() - 1);
  places_[place] = ref + 1;
  if (2 * texts_.size() > places_.size()) grow();
  return ref;
}

void SymbolTable::grow() {
  std::vector<std::uint32_t> places(2 * places_.size());
  const std::size_t mask = places.size() - 1;
  for (std::size_t ref = 0; ref < texts_.size(); ++ref) {
    std::size_t place = texts_[ref].hash & mask;
    while (places[place] != 0) place = (place + 1) & mask;
    places[place] = static_cast<std::uint32_t>(ref + 1);
  }
  places_ = std::move(places);
}

}  // namespace meterbank::push::remote_write
