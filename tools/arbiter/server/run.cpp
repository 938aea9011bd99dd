// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/run.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>

#include "arbiter/backend/perf/perf_backend.hpp"
#include "arbiter/backend/simulated/simulated_backend.hpp"
#include "arbiter/server/options.hpp"
#include "arbiter/server/server.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::arbiter {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitNo = 1;
constexpr int kExitUsage = 2;
constexpr int kExitEnvironment = 3;

int exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kLimit:
      return kExitUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kExists:
      return kExitNo;
    default:
      return kExitEnvironment;
  }
}

int complain(const Error& error, std::ostream& err) {
  err << "meterbank-pmud: "
      << escape_composed(error.message(), Composed::kLine, charset_of(STDERR_FILENO)) << '\n';
  err.flush();
  return exit_code_of(error.code);
}

Result<std::string> read_topology(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(ErrorCode::kNotFound, "read the topology " + path, "--simulate FILE", errno);
  std::string text(kTopologyBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

Result<std::unique_ptr<Backend>> make_backend(const CommandLine& line) {
  if (line.simulate.empty()) {
    PerfOptions options;
    options.discovery.topology = line.topology;
    auto backend = PerfBackend::open(options);
    if (!backend) return tl::make_unexpected(backend.error());
    return std::unique_ptr<Backend>(std::move(*backend));
  }
  const auto text = read_topology(line.simulate);
  if (!text) return tl::make_unexpected(text.error());
  auto topology = parse_topology(*text, line.simulate);
  if (!topology) return tl::make_unexpected(topology.error());
  return make_simulated_backend(std::move(*topology), [] { return clock_ns(CLOCK_MONOTONIC); });
}

int check_policy(const std::string& path, std::ostream& out, std::ostream& err) {
  const auto file = PolicyFile::open(path);
  if (!file) return complain(file.error(), err);
  const auto policy = file->read();
  if (!policy) return complain(policy.error(), err);
  out << escape_for_terminal(path, charset_of(STDOUT_FILENO)) << ": no fault\n";
  return kExitDone;
}

// Clients of the server before are hung up on, and connect again.
void forget_inherited_descriptors() noexcept { ::close_range(3, ~0U, 0); }

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const auto line = parse_command_line(arguments);
  if (!line) return complain(line.error(), err);
  if (!line->text.empty()) {
    out << line->text;
    return kExitDone;
  }
  if (!line->check_policy.empty()) return check_policy(line->check_policy, out, err);
  std::optional<SavedServer> saved;
  if (line->resume) {
    UniqueFd state(*line->resume);
    auto loaded = load_saved(state.get());
    if (loaded) {
      saved.emplace(std::move(*loaded));
    } else {
      complain(loaded.error(), err);
      forget_inherited_descriptors();
    }
  }
  auto program = Program::here(arguments);
  if (!program) return complain(program.error(), err);
  auto backend = make_backend(*line);
  if (!backend) return complain(backend.error(), err);
  auto server = Server::start(line->server, std::move(*backend), std::move(*program),
                              saved ? &*saved : nullptr);
  if (!server) return complain(server.error(), err);
  (*server)->run();
  return kExitDone;
}

}  // namespace meterbank::arbiter
