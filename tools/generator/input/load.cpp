// SPDX-License-Identifier: Apache-2.0
#include "generator/input/load.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "generator/input/build.hpp"
#include "generator/input/elements.hpp"
#include "meterbank/base/fnv1a.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::generator {
namespace {

tl::unexpected<Error> refused(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  const bool denied = error == EACCES || error == EPERM;
  return fail(missing  ? ErrorCode::kNotFound
              : denied ? ErrorCode::kDenied
                       : ErrorCode::kSystem,
              fmt::format("manifest {}", path), missing ? "look at its name" : std::string(),
              error);
}

std::uint64_t hash_of(std::string_view bytes) {
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(bytes)));
  return hash.value();
}

Language language_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<' ? Language::kXml : Language::kToml;
}

}  // namespace

Result<std::string> read_manifest(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return refused(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return refused(path, errno);
  if (S_ISDIR(status.st_mode)) return refused(path, EISDIR);
  // One byte more than it may have tells a longer one from one that just fits.
  std::string text;
  while (text.size() <= kManifestBytesMax) {
    const std::size_t had = text.size();
    const std::size_t wanted = std::min<std::size_t>(65536, kManifestBytesMax + 1 - had);
    text.resize(had + wanted);
    const ssize_t got = ::read(file.get(), text.data() + had, wanted);
    const int error = errno;
    text.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return refused(path, error);
    if (got == 0) return text;
  }
  return fail(ErrorCode::kLimit,
              fmt::format("manifest {}: more than {} bytes", path, kManifestBytesMax),
              "divide it: each provider can have a manifest of its own");
}

std::optional<Manifest> parse_manifest(std::string_view text, const std::string& file,
                                       Problems& problems) {
  if (text.size() > kManifestBytesMax) {
    problems.add({1, 1}, fmt::format("more than {} bytes", kManifestBytesMax),
                 "divide it: each provider can have a manifest of its own");
    return std::nullopt;
  }
  const auto source = SourceText::decode(text, problems);
  if (!source) return std::nullopt;
  Manifest manifest;
  manifest.file = file;
  manifest.hash = hash_of(text);
  manifest.language = language_of(source->text());
  const bool is_xml = manifest.language == Language::kXml;
  const auto root = is_xml ? read_xml(*source, problems) : syntax::read_toml(*source, problems);
  if (!root) return std::nullopt;
  build(*root, manifest, problems);
  return manifest;
}

}  // namespace meterbank::generator
