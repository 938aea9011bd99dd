// SPDX-License-Identifier: Apache-2.0
#include "pcp/run.hpp"

#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <pwd.h>
#include <unistd.h>

#include <ostream>
#include <utility>

#include "meterbank/shm/utf8.hpp"
#include "pcp/agent.hpp"
#include "pcp/options.hpp"

namespace meterbank::pcp {
namespace {

constexpr int kExitDone = 0;
constexpr int kExitUsage = 2;
constexpr int kExitEnvironment = 3;
constexpr const char* kName = "pmdameterbank";

int complain(const Error& error, std::ostream& err) {
  const std::string text = std::string(kName) + ": " + error.message();
  err << escape_composed(text, Composed::kLine, charset_of(STDERR_FILENO)) << '\n' << std::flush;
  const bool is_usage =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kBadPath;
  return is_usage ? kExitUsage : kExitEnvironment;
}

// Empty: as who started it. libpcp ends the process where it cannot, so that is found out first.
Result<void> become(const std::string& user) {
  if (user.empty()) return {};
  const passwd* const known = ::getpwnam(user.c_str());
  if (known == nullptr) {
    return fail(ErrorCode::kNotFound, "no user " + user, "leave out -U, or add the user");
  }
  if (::geteuid() == known->pw_uid) return {};
  if (::geteuid() != 0 || pmSetProcessIdentity(user.c_str()) < 0) {
    return fail(ErrorCode::kDenied, "cannot run as " + user, "leave out -U, or start it as root");
  }
  return {};
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  auto line = parse_command_line(arguments);
  if (!line) return complain(line.error(), err);
  if (!line->text.empty()) {
    out << line->text;
    return kExitDone;
  }
  pmSetProgname(kName);
  // Before the user changes: the log is in a directory of pmcd.
  // libpcp_pmda frees nothing of it, so it stays until the process ends.
  static pmdaInterface interface = {};
  pmdaDaemon(&interface, PMDA_INTERFACE_7, kName, line->observer.domain, line->log.c_str(),
             nullptr);
  pmdaOpenLog(&interface);
  if (const auto changed = become(line->user); !changed) return complain(changed.error(), err);
  auto observer = Observer::open(std::move(line->observer));
  if (!observer) return complain(observer.error(), err);
  return Agent(std::move(*observer)).serve(interface) ? kExitDone : kExitEnvironment;
}

}  // namespace meterbank::pcp
