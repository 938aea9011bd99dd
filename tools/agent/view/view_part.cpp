// SPDX-License-Identifier: Apache-2.0
#include "agent/view/view_part.hpp"

#include <optional>
#include <utility>

#include "agent/view/address_file.hpp"
#include "http/listen_socket.hpp"
#include "meterbank/base/clock.hpp"
#include "page/board_scene.hpp"
#include "page/server/served_page.hpp"

namespace meterbank::agent {
namespace {

// A tenth of what `meterbank view` takes: the agent serves others as well.
constexpr page::ServerLimits kLimits{.viewers = 100, .other_connections = 50};

Result<std::unique_ptr<page::BoardScene>> open_scene(const ViewSettings& settings,
                                                     const CatalogOptions& catalog) {
  cli::SelectionOptions options;
  options.directory = catalog.directory;
  options.all_namespaces = catalog.all_namespaces;
  options.outside_labels = true;
  options.paths = settings.paths;
  cli::Waiter waiter({});  // nothing is waited for: the agent takes its signals itself
  return page::BoardScene::open(options, {}, waiter);
}

}  // namespace

// The scene of a board, counted. Used by the thread of the service.
class CountedScene final : public page::Scene {
 public:
  CountedScene(std::unique_ptr<page::BoardScene> scene, ViewCounts& counts)
      : scene_(std::move(scene)), counts_(counts) {}

  [[nodiscard]] bool is_live() const override { return scene_->is_live(); }
  void take() override {
    const auto begin = Timestamp::now().monotonic_ns;
    scene_->take();
    counts_.sample_taken(Timestamp::now().monotonic_ns - begin);
  }
  [[nodiscard]] page::Shown picture(const view::Place& place, const view::Window& window) override {
    const auto begin = Timestamp::now().monotonic_ns;
    page::Shown shown = scene_->picture(place, window);
    counts_.picture_made(Timestamp::now().monotonic_ns - begin);
    return shown;
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_before(
      std::optional<std::uint64_t> at_ns) override {
    return scene_->moment_before(at_ns);
  }
  [[nodiscard]] std::optional<std::uint64_t> moment_after(std::uint64_t at_ns) override {
    return scene_->moment_after(at_ns);
  }

 private:
  std::unique_ptr<page::BoardScene> scene_;
  ViewCounts& counts_;
};

struct ViewPart::Served {
  Served(std::unique_ptr<page::BoardScene> opened, ViewCounts& counts)
      : scene(std::move(opened), counts) {}

  CountedScene scene;
  std::unique_ptr<page::ServedPage> page;
  std::optional<AddressFile> file;
};

ViewPart::ViewPart(ViewCounts& counts, Report report)
    : counts_(counts), report_(std::move(report)) {}
ViewPart::~ViewPart() { stop(); }

Result<void> ViewPart::use(const ViewSettings& settings, const CatalogOptions& catalog,
                           const std::string& ring) {
  const bool same_providers =
      catalog.directory == directory_ && catalog.all_namespaces == all_namespaces_;
  if (served_ && settings == settings_ && same_providers) return {};
  stop();
  settings_ = settings;
  directory_ = catalog.directory;
  all_namespaces_ = catalog.all_namespaces;
  if (!settings.is_on()) return {};
  auto scene = open_scene(settings, catalog);
  if (!scene) return tl::make_unexpected(std::move(scene.error()));
  if (!ring.empty()) {
    if (const auto remembered = (*scene)->remember(ring); !remembered) {
      report_("the page begins without the recording: " + remembered.error().message());
    }
  }
  auto listener = http::open_listen_socket(settings.address);
  if (!listener) return tl::make_unexpected(std::move(listener.error()));
  auto served = std::make_unique<Served>(std::move(*scene), counts_);
  auto page =
      page::ServedPage::start(std::move(*listener), served->scene, settings.interval, kLimits);
  if (!page) return tl::make_unexpected(std::move(page.error()));
  served->page = std::move(*page);
  auto file = AddressFile::write(settings.address_file, served->page->link());
  if (!file) return tl::make_unexpected(std::move(file.error()));
  served->file.emplace(std::move(*file));
  served_ = std::move(served);
  return {};
}

void ViewPart::stop() { served_.reset(); }

std::string ViewPart::address() const { return served_ ? served_->page->address() : std::string(); }

}  // namespace meterbank::agent
