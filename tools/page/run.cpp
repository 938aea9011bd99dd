// SPDX-License-Identifier: Apache-2.0
#include "page/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/session/waiter.hpp"
#include "http/listen_socket.hpp"
#include "page/board_scene.hpp"
#include "page/export/exported_page.hpp"
#include "page/options.hpp"
#include "page/server/served_page.hpp"

namespace meterbank::page {
namespace {

int fail_with(const cli::Console& console, const Error& error) {
  cli::complain(console, error);
  return cli::exit_code_of(error.code);
}

// A machine may have one of the two protocols alone.
Result<http::ListenSocket> listen_on_loopback(std::uint16_t port) {
  auto socket = http::open_listen_socket(fmt::format("127.0.0.1:{}", port));
  if (socket || socket.error().code == ErrorCode::kExists) return socket;
  auto other = http::open_listen_socket(fmt::format("[::1]:{}", port));
  return other ? std::move(other) : std::move(socket);
}

// Samples for as long as was asked for. False: stopped.
bool take_samples(BoardScene& scene, const CommandLine& line, cli::Waiter& waiter) {
  const auto end = cli::Clock::now() + line.duration;
  cli::Cadence cadence(cli::Clock::now(), line.interval);
  while (cadence.next() <= end) {
    if (waiter.wait_until(cadence.next()) == cli::Wake::kStop) return false;
    scene.take();
    cadence.advance(cli::Clock::now());
  }
  return true;
}

// The agent's ring is there or not, and may be for others; one that was named has to be.
Result<void> remember(BoardScene& scene, const std::string& ring) {
  if (!ring.empty()) return scene.remember(ring);
  std::error_code error;
  if (scene.is_live() && std::filesystem::exists(view::kAgentRing, error)) {
    static_cast<void>(scene.remember(view::kAgentRing));
  }
  return {};
}

// Nothing: stopped.
std::optional<ExportedPage> page_of(BoardScene& scene, cli::Waiter& waiter) {
  constexpr std::chrono::milliseconds kLook(20);
  std::packaged_task<ExportedPage(std::stop_token)> make(
      [&scene](const std::stop_token& stop) { return exported_page(scene, {}, stop); });
  auto made = make.get_future();
  std::jthread thread(std::move(make));
  while (made.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    if (waiter.wait_until(cli::Clock::now() + kLook) != cli::Wake::kStop) continue;
    thread.request_stop();
    return std::nullopt;
  }
  return made.get();
}

int export_page(BoardScene& scene, const CommandLine& line, cli::Waiter& waiter,
                cli::Console& console) {
  if (scene.is_live() && !take_samples(scene, line, waiter)) return 128 + waiter.signal();
  auto output = cli::Output::open(console, line.exported);
  if (!output) return fail_with(console, output.error());
  const auto page = page_of(scene, waiter);
  if (!page) return 128 + waiter.signal();
  for (const auto& problem : page->problems) cli::complain(console, problem);
  output->write(page->html);
  return output->finish(cli::kExitDone);
}

int serve(BoardScene& scene, const CommandLine& line, cli::Waiter& waiter,
          const cli::Console& console) {
  auto listener = listen_on_loopback(line.port);
  if (!listener) return fail_with(console, listener.error());
  const auto page = ServedPage::start(std::move(*listener), scene, line.interval);
  if (!page) return fail_with(console, page.error());
  console.out << (*page)->link() << std::endl;
  static_cast<void>(waiter.wait_until_stopped());
  return cli::kExitDone;
}

}  // namespace

int run(const std::vector<std::string>& arguments, cli::Console& console) {
  const auto line = parse_command_line(arguments);
  if (!line) return fail_with(console, line.error());
  if (!line->text.empty()) {
    console.out << line->text;
    return cli::kExitDone;
  }
  cli::Waiter waiter({});
  auto scene = BoardScene::open(line->selection, line->second, waiter);
  if (!scene) return fail_with(console, scene.error());
  // Providers may start later, so a page may begin without rows. A file without rows is an error.
  const int unmatched = cli::report_unmatched((*scene)->selection(), console);
  if (!line->exported.empty() && (*scene)->selection().has_nothing()) return unmatched;
  static_cast<void>(cli::report_damages((*scene)->selection(), console));
  if (const auto remembered = remember(**scene, line->ring); !remembered) {
    return fail_with(console, remembered.error());
  }
  if (!line->exported.empty()) return export_page(**scene, *line, waiter, console);
  return serve(**scene, *line, waiter, console);
}

}  // namespace meterbank::page
