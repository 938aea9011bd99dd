// SPDX-License-Identifier: Apache-2.0
#include "page/export/exported_page.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <deque>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "cli/format/json.hpp"
#include "page/asset.hpp"
#include "page/feed/answers.hpp"
#include "view/packed.hpp"

namespace meterbank::page {
namespace {

// What tells pictures apart; the rest of a place the page does by itself.
std::string identity_of(const view::Place& place) {
  constexpr std::array kScreens{"overview", "set", "instance"};
  return fmt::format("{}\n{}\n{}\n{}\n{}", kScreens[static_cast<std::size_t>(place.screen)],
                     place.provider, place.set, place.instance, place.counter);
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  constexpr int kMemory = 8;
  if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

class Collector {
 public:
  Collector(Scene& scene, const ExportLimits& limits, const std::stop_token& stop)
      : scene_(scene), limits_(limits), stop_(stop) {
    enter({});
  }

  void collect() {
    while (!waiting_.empty() && !stop_.stop_requested()) {
      if (count_ >= limits_.pictures || pictures_.size() >= limits_.json_bytes) break;
      const view::Place place = std::move(waiting_.front());
      waiting_.pop_front();
      take(place);
    }
    if (!waiting_.empty()) {
      problems_.push_back(fmt::format(
          "the file has {} views and leaves out {} or more, because it would become too large; "
          "name fewer counters to get all of theirs",
          count_, waiting_.size()));
    }
    if (cut_tables_ != 0) {
      problems_.push_back(fmt::format("{} tables have more than {} rows, and the file the first",
                                      cut_tables_, limits_.rows));
    }
  }

  [[nodiscard]] std::string json() const {
    cli::JsonWriter keys;
    keys.begin_object();
    for (const auto& [identity, number] : keys_) keys.key(identity).number(std::uint64_t{number});
    keys.end_object();
    cli::JsonWriter problems;
    problems.begin_array();
    for (const auto& problem : problems_) problems.text(problem);
    problems.end_array();
    return fmt::format("{{\"pictures\":[{}],\"keys\":{},\"problems\":{}}}", pictures_, keys.take(),
                       problems.take());
  }
  [[nodiscard]] std::vector<std::string> take_problems() { return std::move(problems_); }

 private:
  void enter(const view::Place& place) {
    if (seen_.insert(identity_of(place)).second) waiting_.push_back(place);
  }

  void take(const view::Place& place) {
    view::Window window;
    window.lines = window.other_lines = limits_.rows;
    constexpr std::size_t kColumns = 600;
    window.plot_columns = kColumns;
    Shown shown = scene_.picture(place, window);
    shown.picture.is_live = false;
    keys_.emplace(identity_of(place), count_);
    keys_.emplace(identity_of(shown.picture.place), count_);
    seen_.insert(identity_of(shown.picture.place));
    for (const auto& section : shown.picture.sections) {
      if (section.total > section.lines.size()) ++cut_tables_;
      for (const auto& line : section.lines) {
        if (line.opens) enter(*line.opens);
      }
    }
    pictures_ += (count_ == 0 ? "" : ",") + json_of(shown, {.is_packed = true});
    ++count_;
  }

  Scene& scene_;
  const ExportLimits& limits_;
  const std::stop_token& stop_;
  std::deque<view::Place> waiting_;
  std::set<std::string> seen_;
  std::map<std::string, std::size_t> keys_;
  std::string pictures_;
  std::vector<std::string> problems_;
  std::size_t count_ = 0;
  std::size_t cut_tables_ = 0;
};

}  // namespace

ExportedPage exported_page(Scene& scene, const ExportLimits& limits, const std::stop_token& stop) {
  // A recording is read for the plots of all pictures at once, so it is asked first which they are.
  scene.note_plots();
  Collector(scene, limits, stop).collect();
  scene.read_noted_plots(stop);
  Collector collector(scene, limits, stop);
  collector.collect();
  if (stop.stop_requested()) return {};
  const std::string data = view::base64_of(gzip(collector.json()));
  const Asset& asset = page_asset();
  return {asset.before + "<script id=\"data\" type=\"application/octet-stream\">" + data +
              "</script>\n" + asset.after,
          collector.take_problems()};
}

}  // namespace meterbank::page
