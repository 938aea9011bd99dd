// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/binary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace meterbank::cli {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return fail(is_full ? ErrorCode::kNoSpace : ErrorCode::kSystem,
              fmt::format("cannot write {}", path), "another place with -o FILE", error);
}

}  // namespace

Result<BinaryFile> BinaryFile::at(const std::string& path) {
  auto place = record::NewFile::at(path);
  if (!place) return tl::make_unexpected(std::move(place.error()));
  BinaryFile file(*std::move(place), path);
  constexpr mode_t kMode = 0640;  // as recordings have
  file.opened_ = UniqueFd(::open(file.file_.temporary().c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode));
  if (!file.opened_) return cannot_write(path, errno);
  return file;
}

Result<void> BinaryFile::write(std::string_view bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t count = ::write(opened_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return cannot_write(path_, count == 0 ? ENOSPC : errno);
    }
  }
  return {};
}

Result<void> BinaryFile::keep() { return file_.keep(); }

}  // namespace meterbank::cli
