// SPDX-License-Identifier: Apache-2.0
//
// An archive of PCP, with the metrics, instances, identifiers and values that pmdameterbank would
// have shown at each moment: both are made by the code in tools/pcp.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/convert/conversions.hpp"
#include "cli/convert/moments.hpp"
#include "cli/convert/pcp/import_library.hpp"
#include "cli/convert/pcp/new_archive.hpp"
#include "cli/format/quantity.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/shm/utf8.hpp"
#include "pcp/answers/fetch_answer.hpp"
#include "pcp/layout/layout_maker.hpp"

namespace meterbank::cli {
namespace {

constexpr int kPcpDomain = 478;  // that of the agent

bool is_whole(int type) noexcept { return type == PM_TYPE_U64 || type == PM_TYPE_64; }

std::string text_of(int type, const pmValueBlock& value) {
  std::uint64_t number = 0;
  std::memcpy(&number, value.vbuf, sizeof number);
  if (type == PM_TYPE_U64) return fmt::format("{}", number);
  return fmt::format("{}", static_cast<std::int64_t>(number));
}

class PcpWriter final : public MomentSink {
 public:
  explicit PcpWriter(std::string base) : base_(std::move(base)), maker_(kPcpDomain) {}

  Result<bool> take(const LogMoment& moment) override {
    const Timestamp now = moment.log.time();
    const std::uint64_t now_us = now.realtime_ns / 1000;
    if (last_us_ && now_us <= *last_us_) {
      ++not_later_;
      return true;
    }
    const std::uint64_t version = moment.log.catalog().version();
    if (!archive_ || moment.has_changed || version != version_) {
      version_ = version;
      if (auto described = describe(moment); !described) {
        return tl::make_unexpected(std::move(described.error()));
      }
    }
    window_.advance(layout_, moment.sample, now.monotonic_ns);
    const std::size_t gaps = moment.log.gaps().size();
    if (std::exchange(gaps_, gaps) < gaps && last_us_) {
      if (auto marked = archive_->put_mark(); !marked) {
        return tl::make_unexpected(std::move(marked.error()));
      }
    }
    if (auto put = put_values(moment, now_us); !put) {
      return tl::make_unexpected(std::move(put.error()));
    }
    return true;
  }

  Result<void> finish() {
    if (!last_us_) {
      return fail(ErrorCode::kNotFound, "nothing of these counters was recorded",
                  "other paths, or another range");
    }
    return archive_->close();
  }
  void say_what_is_missing(const Console& console) const {
    if (not_later_ != 0) {
      complain(
          console,
          fmt::format("left out {} less than a microsecond after the one before; try: --every 1ms",
                      counted(not_later_, "sample")));
    }
    if (!refused_.empty()) {
      complain(console, fmt::format("left out {} with the name or the number of another one",
                                    counted(refused_.size(), "instance")));
    }
    if (layout_.metrics_left_out != 0) {
      complain(console, fmt::format("left out {} of providers that have more than an archive takes",
                                    counted(layout_.metrics_left_out, "metric")));
    }
    if (labels_refused_ != 0) {
      complain(console, fmt::format("left out the units of {}, which PCP refuses as labels",
                                    counted(labels_refused_, "metric")));
    }
  }
  [[nodiscard]] std::uint64_t values() const noexcept { return values_; }
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }

 private:
  // An archive is of one host.
  Result<void> open(const LogMoment& moment) {
    if (!moment.log.files().empty()) host_ = moment.log.files().front().head.host;
    if (auto other = take_hosts(moment); !other) return other;
    auto opened = PcpArchive::create(base_, host_);
    if (!opened) return tl::make_unexpected(std::move(opened.error()));
    archive_.emplace(std::move(*opened));
    return {};
  }

  Result<void> take_hosts(const LogMoment& moment) {
    for (const SelectedSet& one : moment.sample.selected()) {
      const std::string& host = one.provider().outside.host;
      if (host.empty()) continue;
      if (!merged_host_) host_ = merged_host_.emplace(host);
      if (*merged_host_ == host) continue;
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("an archive of PCP is of one host, and this recording is of {} and {}",
                      escape_for_terminal(*merged_host_), escape_for_terminal(host)),
          "the recording of one host, before it was merged");
    }
    return {};
  }

  // Tells the archive what it does not know yet.
  Result<void> describe(const LogMoment& moment) {
    auto ready = archive_ ? take_hosts(moment) : open(moment);
    if (!ready) return ready;
    layout_ = maker_.make(moment.sample.selected());
    for (const pcp::Domain& domain : layout_.domains) {
      if (auto added = add_instances(domain); !added) return added;
    }
    for (const pcp::Metric& metric : layout_.metrics) {
      if (!metrics_.insert(metric.desc.pmid).second) continue;
      if (auto added = add_metric(metric); !added) return added;
    }
    return {};
  }

  Result<void> add_metric(const pcp::Metric& metric) {
    const pmID id = metric.desc.pmid;
    has_news_ = true;
    if (auto added = archive_->add_metric(metric.name, metric.desc); !added) return added;
    if (!metric.ucum.empty()) put_unit(metric);
    if (auto put = archive_->put_text(PM_TEXT_PMID | PM_TEXT_ONELINE, id, metric.oneline); !put) {
      return put;
    }
    return archive_->put_text(PM_TEXT_PMID | PM_TEXT_HELP, id, metric.help);
  }

  Result<void> add_instances(const pcp::Domain& domain) {
    const auto [known, is_new] = instances_.try_emplace(domain.id);
    if (is_new) {
      auto put = archive_->put_text(PM_TEXT_INDOM | PM_TEXT_ONELINE, domain.id, domain.oneline);
      if (put) put = archive_->put_text(PM_TEXT_INDOM | PM_TEXT_HELP, domain.id, domain.help);
      if (!put) return put;
    }
    for (const pcp::ShownInstance& instance : domain.instances) {
      const auto [entry, is_unknown] = known->second.emplace(instance.id, instance.name);
      if (entry->second != instance.name) {
        hide(instance);
      } else if (is_unknown) {
        auto added = archive_->add_instance(domain.id, instance.name, instance.id);
        if (!added) return tl::make_unexpected(std::move(added.error()));
        if (*added) continue;
        hide(instance);
        known->second.erase(entry);
      }
    }
    return {};
  }

  void hide(const pcp::ShownInstance& instance) {
    refused_.insert(instance.name);
    std::vector<int>& ids = layout_.blocks[instance.block].ids;
    std::replace(ids.begin(), ids.end(), instance.id, -1);
  }

  void put_unit(const pcp::Metric& metric) {
    const nlohmann::json unit = metric.ucum;
    const std::string json = unit.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    // The library puts the quotes around a text itself.
    const std::string value = json.substr(1, json.size() - 2);
    if (!archive_->put_label(PM_LABEL_ITEM, metric.desc.pmid, "ucum", value)) ++labels_refused_;
  }

  Result<void> put_values(const LogMoment& moment, std::uint64_t now_us) {
    const std::vector<bool> left_out = blocks_not_sampled(moment, layout_);
    ids_.clear();
    for (const pcp::Metric& metric : layout_.metrics) {
      const bool is_sampled =
          std::any_of(metric.parts.begin(), metric.parts.end(),
                      [&](const pcp::MetricPart& part) { return !left_out[part.block]; });
      if (is_sampled) ids_.push_back(metric.desc.pmid);
    }
    if (ids_.empty()) return {};
    pmResult* const result =
        answer_.make(ids_, {layout_, moment.sample, window_, &left_out}, nullptr);
    constexpr std::uint64_t kMicroseconds = 1'000'000;
    result->timestamp.tv_sec = static_cast<time_t>(now_us / kMicroseconds);
    result->timestamp.tv_usec = static_cast<suseconds_t>(now_us % kMicroseconds);
    for (int index = 0; index < result->numpmid; ++index) {
      pmValueSet& set = *result->vset[index];
      set.valfmt = PM_VAL_DPTR;  // as archives have it
      values_ += static_cast<std::uint64_t>(std::max(set.numval, 0));
    }
    last_us_ = now_us;
    ++samples_;
    if (has_news_) {
      if (auto put = put_news(*result); !put) return put;
    }
    if (result->numpmid == 0) return {};
    return archive_->put(*result);
  }

  // Puts one metric as text, with which the library writes descriptions, and takes it out of the
  // result. Without a value that is written as it is, descriptions wait for the next sample.
  Result<void> put_news(pmResult& result) {
    const std::span sets(result.vset, static_cast<std::size_t>(result.numpmid));
    const auto chosen = std::find_if(sets.begin(), sets.end(), [&](const pmValueSet* set) {
      return set->numval > 0 && is_whole(layout_.find(set->pmid)->desc.type);
    });
    if (chosen == sets.end()) return {};
    const pcp::Metric& metric = *layout_.find((*chosen)->pmid);
    const auto& names = instances_[metric.desc.indom];
    for (const pmValue& value :
         std::span((*chosen)->vlist, static_cast<std::size_t>((*chosen)->numval))) {
      const std::string text = text_of(metric.desc.type, *value.value.pval);
      if (auto put = archive_->put_value(metric.name, names.at(value.inst), text); !put) return put;
    }
    has_news_ = false;
    std::swap(*chosen, sets.back());
    --result.numpmid;
    return archive_->write_values(result.timestamp);
  }

  std::string base_, host_;
  std::optional<std::string> merged_host_;
  std::optional<PcpArchive> archive_;
  pcp::LayoutMaker maker_;
  pcp::Layout layout_;
  pcp::RecentWindow window_;
  pcp::FetchAnswer answer_;
  std::vector<pmID> ids_;
  std::set<pmID> metrics_;                                   // that the archive knows
  std::map<pmInDom, std::map<int, std::string>> instances_;  // likewise
  std::set<std::string> refused_;                            // names of instances
  std::optional<std::uint64_t> last_us_;
  std::uint64_t version_ = 0;  // of the catalog
  std::size_t gaps_ = 0;
  bool has_news_ = false;  // texts and labels that are not written yet
  std::uint64_t not_later_ = 0, labels_refused_ = 0;
  std::uint64_t values_ = 0, samples_ = 0;
};

}  // namespace

int convert_to_pcp(const Invocation& invocation, Console& console) {
  const auto refuse = [&](const Error& error) {
    complain(console, error);
    return exit_code_of(error.code);
  };
  auto files = NewArchive::at(invocation.output);
  if (!files) return refuse(files.error());
  PcpWriter writer(files->base());
  const int exit_code = convert_moments(invocation, writer, console);
  if (!is_kept(exit_code, writer.samples())) return exit_code;
  if (auto ended = writer.finish(); !ended) return refuse(ended.error());
  if (auto kept = files->keep(); !kept) return refuse(kept.error());
  writer.say_what_is_missing(console);
  if (!invocation.quiet) {
    const std::string path = escape_for_terminal(invocation.output);
    say(console,
        fmt::format("{} of {} in {}.0, .meta and .index", counted(writer.values(), "value"),
                    counted(writer.samples(), "sample"), path));
  }
  return exit_code;
}

}  // namespace meterbank::cli
