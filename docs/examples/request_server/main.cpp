// SPDX-License-Identifier: Apache-2.0
//
// A request server that can be looked into while it runs:
//   request_server [--port N] [--workers N] [--seconds N] [--uncounted]
//   meterbank watch server_requests
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "meters.hpp"
#include "server.hpp"

namespace request_server {
namespace {

struct Options {
  ServerOptions server;
  long seconds = 0;  // 0: until SIGINT or SIGTERM
  bool counted = true;
};

// The signals that end it, which all threads but this one never see.
sigset_t block_ends() noexcept {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

template <typename Counts>
void serve(Counts& counts, const Options& options, const sigset_t& ends) {
  Server<Counts> server(counts, options.server);
  const std::jthread running([&server] { server.run(); });
  std::printf("serving on port %u\n", unsigned{server.port()});
  std::fflush(stdout);
  const timespec timeout{options.seconds, 0};
  ::sigtimedwait(&ends, nullptr, options.seconds != 0 ? &timeout : nullptr);
  server.stop();
}

bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--uncounted") {
      options.counted = false;
      continue;
    }
    if (++i == count) return false;
    const long number = std::strtol(arguments[i], nullptr, 10);
    if (word == "--port" && number >= 0 && number <= 65535) {
      options.server.port = static_cast<std::uint16_t>(number);
    } else if (word == "--workers" && number > 0 && number <= 1024) {
      options.server.workers = static_cast<unsigned>(number);
    } else if (word == "--seconds" && number > 0) {
      options.seconds = number;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace request_server

int main(int count, char** arguments) try {
  using namespace request_server;
  Options options;
  if (!parse(count, arguments, options)) {
    std::fputs("usage: request_server [--port N] [--workers N] [--seconds N] [--uncounted]\n",
               stderr);
    return 2;
  }
  const sigset_t ends = block_ends();  // before there are other threads
  if (options.counted) {
    Meters meters({.name = "request_server"});
    serve(meters, options, ends);
  } else {
    NoMeters none;
    serve(none, options, ends);
  }
  return 0;
} catch (const std::system_error& error) {
  std::fprintf(stderr, "request_server: %s\n", error.what());
  return 3;
}
