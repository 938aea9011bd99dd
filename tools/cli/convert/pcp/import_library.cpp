// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/pcp/import_library.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <utility>

#include "cli/convert/loaded_library.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Of pcp/import.h.
constexpr int kDuplicateName = -20003, kDuplicateId = -20004;
constexpr int kTextMax = 128;  // of an error
// Times of 64 bits, and files of more than 2 GiB.
constexpr int kArchiveVersion = 3;

// The functions of the library, by their names in it.
struct ImportLibrary {
  int (*start)(const char*, int) = nullptr;
  int (*use_context)(int) = nullptr;
  int (*end)() = nullptr;
  int (*set_version)(int) = nullptr;
  int (*set_hostname)(const char*) = nullptr;
  int (*add_metric)(const char*, pmID, int, pmInDom, int, pmUnits) = nullptr;
  int (*add_instance)(pmInDom, const char*, int) = nullptr;
  int (*put_text)(unsigned, unsigned, unsigned, const char*) = nullptr;
  int (*put_label)(unsigned, unsigned, unsigned, const char*, const char*) = nullptr;
  int (*put_result)(const pmResult*) = nullptr;
  int (*put_value)(const char*, const char*, const char*) = nullptr;
  int (*write)(int, int) = nullptr;
  int (*put_mark)() = nullptr;
  char* (*error_text)(int, char*, int) = nullptr;
};

// Null: the library is not there, or lacks a function.
const ImportLibrary* load_import_library() {
  static ImportLibrary functions;
  static const bool has_all = [] {
    LoadedLibrary library("libpcp_import.so.1");
    library.find("pmiStart", functions.start);
    library.find("pmiUseContext", functions.use_context);
    library.find("pmiEnd", functions.end);
    library.find("pmiSetVersion", functions.set_version);
    library.find("pmiSetHostname", functions.set_hostname);
    library.find("pmiAddMetric", functions.add_metric);
    library.find("pmiAddInstance", functions.add_instance);
    library.find("pmiPutText", functions.put_text);
    library.find("pmiPutLabel", functions.put_label);
    library.find("pmiPutResult", functions.put_result);
    library.find("pmiPutValue", functions.put_value);
    library.find("pmiWrite", functions.write);
    library.find("pmiPutMark", functions.put_mark);
    library.find("pmiErrStr_r", functions.error_text);
    return library.has_all();
  }();
  return has_all ? &functions : nullptr;
}

}  // namespace

struct PcpArchive::Parts {
  const ImportLibrary* library = nullptr;
  std::string base;
  int context = -1;

  ~Parts() {
    if (context >= 0) end();
  }
  int end() {
    library->use_context(std::exchange(context, -1));
    return library->end();
  }
  [[nodiscard]] Result<void> checked(int code) const {
    if (code >= 0) return {};
    std::array<char, kTextMax> text{};
    library->error_text(code, text.data(), kTextMax);
    const bool is_full = code == -ENOSPC || code == -EDQUOT || code == -EFBIG || code == -EIO;
    return fail(is_full ? ErrorCode::kNoSpace : ErrorCode::kSystem,
                fmt::format("cannot write the archive {}: {}", base,
                            escape_for_terminal(std::string_view(text.data()))),
                "another place with -o NAME");
  }
};

PcpArchive::PcpArchive(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
PcpArchive::PcpArchive(PcpArchive&&) noexcept = default;
PcpArchive::~PcpArchive() = default;

Result<PcpArchive> PcpArchive::create(const std::string& base, const std::string& host) {
  const ImportLibrary* const library = load_import_library();
  if (library == nullptr) {
    return fail(ErrorCode::kSystem, "-f pcp needs libpcp_import.so.1 of PCP 6, which is not there",
                "apt-get install libpcp-import1");
  }
  auto parts = std::make_unique<Parts>();
  parts->library = library;
  parts->base = base;
  parts->context = library->start(base.c_str(), 0);
  if (auto started = parts->checked(parts->context); !started) {
    return tl::make_unexpected(std::move(started.error()));
  }
  for (const int code : {library->set_version(kArchiveVersion),
                         host.empty() ? 0 : library->set_hostname(host.c_str())}) {
    if (auto set = parts->checked(code); !set) {
      return tl::make_unexpected(std::move(set.error()));
    }
  }
  return PcpArchive(std::move(parts));
}

Result<void> PcpArchive::add_metric(const std::string& name, const pmDesc& desc) {
  return parts_->checked(parts_->library->add_metric(name.c_str(), desc.pmid, desc.type, desc.indom,
                                                     desc.sem, desc.units));
}

Result<bool> PcpArchive::add_instance(pmInDom domain, const std::string& name, int id) {
  const int code = parts_->library->add_instance(domain, name.c_str(), id);
  if (code == kDuplicateName || code == kDuplicateId) return false;
  if (auto added = parts_->checked(code); !added) {
    return tl::make_unexpected(std::move(added.error()));
  }
  return true;
}

Result<void> PcpArchive::put_text(unsigned kind, unsigned id, const std::string& text) {
  constexpr unsigned kClasses = PM_TEXT_ONELINE | PM_TEXT_HELP;
  if (text.empty()) return {};
  return parts_->checked(
      parts_->library->put_text(kind & ~kClasses, kind & kClasses, id, text.c_str()));
}

bool PcpArchive::put_label(unsigned kind, unsigned id, const std::string& name,
                           const std::string& value) {
  return parts_->library->put_label(kind, id, 0, name.c_str(), value.c_str()) >= 0;
}

Result<void> PcpArchive::put(const pmResult& result) {
  return parts_->checked(parts_->library->put_result(&result));
}

Result<void> PcpArchive::put_value(const std::string& metric, const std::string& instance,
                                   const std::string& value) {
  return parts_->checked(
      parts_->library->put_value(metric.c_str(), instance.c_str(), value.c_str()));
}

Result<void> PcpArchive::write_values(const timeval& time) {
  return parts_->checked(
      parts_->library->write(static_cast<int>(time.tv_sec), static_cast<int>(time.tv_usec)));
}

Result<void> PcpArchive::put_mark() { return parts_->checked(parts_->library->put_mark()); }

Result<void> PcpArchive::close() { return parts_->checked(parts_->end()); }

}  // namespace meterbank::cli
