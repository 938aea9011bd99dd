// SPDX-License-Identifier: Apache-2.0
#include "objects.hpp"

namespace meterbank::border {
namespace {

using recording::Recording;

// `work(recording)` with the recording that a catalog is.
template <typename Work>
mb_status with_recording(mb_catalog* catalog, mb_error* error, Work&& work) noexcept {
  return cross(error, [&] {
    return with(catalogs, catalog, [&](HeldCatalog& held) -> Outcome<void> {
      Recording* const recorded = held.recording();
      if (recorded == nullptr) {
        return refuse(MB_INVALID_ARGUMENT, "the catalog is not a recording",
                      "a catalog of mb_recording_open()");
      }
      return work(held, *recorded);
    });
  });
}

mb_recording_summary summary_of(const Recording& recorded) noexcept {
  mb_recording_summary summary = MB_RECORDING_SUMMARY_INIT;
  summary.files = static_cast<std::uint32_t>(recorded.files().size());
  summary.first_ns = recorded.first().realtime_ns;
  summary.last_ns = recorded.last().realtime_ns;
  if (recorded.is_somewhere()) {
    summary.moment_ns = recorded.time().realtime_ns;
    summary.window_ns = recorded.window_ns();
  }
  for (const auto& file : recorded.files()) summary.bytes += file.bytes;
  summary.flaws = recorded.gaps().size() + recorded.damages().size();
  for (const auto& gap : recorded.gaps()) summary.missed += gap.ticks;
  const auto& head = recorded.files().front().head;  // open() refuses what has no file
  summary.host = head.host.c_str();
  summary.recorder = head.program.c_str();
  return summary;
}

mb_flaw flaw_of(const recording::Gap& gap) noexcept {
  mb_flaw flaw = MB_FLAW_INIT;
  flaw.is_gap = 1;
  flaw.from_ns = gap.from.realtime_ns;
  flaw.to_ns = gap.to.realtime_ns;
  flaw.missed = gap.ticks;
  flaw.reason = name_of(gap.reason).data();
  flaw.path = "";
  return flaw;
}

mb_flaw flaw_of(const recording::Damage& damage) noexcept {
  mb_flaw flaw = MB_FLAW_INIT;
  flaw.offset = damage.offset;
  flaw.bytes = damage.bytes;
  flaw.reason = damage.what.c_str();
  flaw.path = damage.path.c_str();
  return flaw;
}

}  // namespace
}  // namespace meterbank::border

using namespace meterbank;
using namespace meterbank::border;

mb_status mb_recording_open(const char* path, const mb_catalog_options* options,
                            mb_catalog** catalog, mb_error* error) {
  return cross(error, [&]() -> Outcome<void> {
    if (auto good = clear_handle(catalog, "catalog"); !good) return good;
    if (path == nullptr) return refuse_null("path");
    constexpr mb_catalog_options kDefaults = MB_CATALOG_OPTIONS_INIT;
    auto read = read_options(options == nullptr ? &kDefaults : options);
    if (!read) return tl::make_unexpected(read.error());
    auto opened = recording::Recording::open(path, std::move(*read));
    if (!opened) return tl::make_unexpected(opened.error());
    *catalog =
        handle_of<mb_catalog>(catalogs.insert(std::make_shared<HeldCatalog>(std::move(*opened))));
    return {};
  });
}

mb_status mb_recording_next(mb_catalog* catalog, mb_error* error) {
  return with_recording(catalog, error,
                        [](HeldCatalog& held, recording::Recording& recorded) -> Outcome<void> {
                          if (!recorded.next()) return refuse(MB_NOT_FOUND, "no later moment");
                          held.labels.clear();
                          return {};
                        });
}

mb_status mb_recording_seek(mb_catalog* catalog, uint64_t realtime_ns, mb_error* error) {
  return with_recording(catalog, error,
                        [&](HeldCatalog& held, recording::Recording& recorded) -> Outcome<void> {
                          if (!recorded.seek(realtime_ns)) {
                            return refuse(MB_NOT_FOUND, "the recording begins later");
                          }
                          held.labels.clear();
                          return {};
                        });
}

mb_status mb_recording_summarize(mb_catalog* catalog, mb_recording_summary* summary,
                                 mb_error* error) {
  return with_recording(catalog, error,
                        [&](HeldCatalog&, const recording::Recording& recorded) -> Outcome<void> {
                          if (auto good = can_fill(summary, "mb_recording_summary"); !good) {
                            return good;
                          }
                          fill_struct(summary, summary_of(recorded));
                          return {};
                        });
}

mb_status mb_recording_flaw(mb_catalog* catalog, size_t index, mb_flaw* flaw, mb_error* error) {
  return with_recording(
      catalog, error, [&](HeldCatalog&, const recording::Recording& recorded) -> Outcome<void> {
        if (auto good = can_fill(flaw, "mb_flaw"); !good) return good;
        const auto gaps = recorded.gaps();
        const auto damages = recorded.damages();
        if (index >= gaps.size() + damages.size()) return refuse(MB_NOT_FOUND, "no more flaws");
        fill_struct(flaw, index < gaps.size() ? flaw_of(gaps[index])
                                              : flaw_of(damages[index - gaps.size()]));
        return {};
      });
}

mb_status mb_recording_mark(mb_catalog* catalog, size_t index, mb_mark* mark, mb_error* error) {
  return with_recording(catalog, error,
                        [&](HeldCatalog&, const recording::Recording& recorded) -> Outcome<void> {
                          if (auto good = can_fill(mark, "mb_mark"); !good) return good;
                          const auto marks = recorded.marks();
                          if (index >= marks.size()) return refuse(MB_NOT_FOUND, "no more marks");
                          mb_mark filled = MB_MARK_INIT;
                          filled.time_ns = marks[index].time.realtime_ns;
                          filled.text = marks[index].text.c_str();
                          fill_struct(mark, filled);
                          return {};
                        });
}
