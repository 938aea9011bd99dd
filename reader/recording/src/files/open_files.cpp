// SPDX-License-Identifier: Apache-2.0
#include "open_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace meterbank::recording {
namespace {

std::optional<ChunkIndex> read_index(FileBytes& bytes) {
  if (bytes.size() < kTrailer) return std::nullopt;
  const auto trailer = bytes.at(bytes.size() - kTrailer, kTrailer);
  if (trailer.size() < kTrailer) return std::nullopt;
  const auto offset = index_offset(trailer.first<kTrailer>());
  if (!offset || *offset >= bytes.size()) return std::nullopt;
  FrameWalk walk(bytes, *offset);
  const auto frame = walk.here();
  // Its offset is a claim of the file: the frame must be there, and be the last one.
  if (!frame || frame->end() != bytes.size()) return std::nullopt;
  return ChunkIndex::parse(*frame);
}

}  // namespace

Result<std::vector<std::string>> find_files(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    const bool is_missing = errno == ENOENT || errno == ENOTDIR;
    return fail(is_missing ? ErrorCode::kNotFound : ErrorCode::kDenied, "no recording at " + path,
                "meterbank record -o " + path, errno);
  }
  if (!S_ISDIR(facts.st_mode)) return std::vector<std::string>{path};
  DIR* const directory = ::opendir(path.c_str());
  if (directory == nullptr) {
    return fail(ErrorCode::kDenied, "cannot read the directory " + path, {}, errno);
  }
  std::vector<std::string> files;
  while (const dirent* const entry = ::readdir(directory)) {
    if (std::string_view(entry->d_name).ends_with(kFileSuffix))
      files.push_back(path + '/' + entry->d_name);
  }
  ::closedir(directory);
  // Names sort in the order in which a recorder made the files.
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    return fail(ErrorCode::kNotFound, path + " has no recording: no file *.mbr",
                "meterbank record -o " + path);
  }
  return files;
}

bool is_evicted(const std::string& path, const Error& error) {
  struct stat facts {};
  return error.code == ErrorCode::kNotFound && ::lstat(path.c_str(), &facts) != 0;
}

Result<std::optional<OpenedFile>> open_file(const std::string& path) {
  auto opened = FileBytes::open(path);
  if (!opened) return tl::make_unexpected(std::move(opened.error()));
  FrameWalk from_start(*opened);
  const auto begin = from_start.next();
  const auto skipped = from_start.take_skipped();
  if (!begin && (!skipped || skipped->is_cut)) return std::nullopt;
  auto head = begin ? parse_head(*begin)
                    : Result<Head>(fail(ErrorCode::kCorrupt, kNoFrame, kWrittenByRecord));
  if (!head) {
    head.error().what = path + ": " + head.error().what;
    return tl::make_unexpected(std::move(head.error()));
  }
  RecordingFile one;
  one.path = path;
  one.bytes = opened->size();
  one.head = std::move(*head);
  if (auto index = read_index(*opened)) {
    one.index = std::move(*index);
    one.is_ended = true;
  } else {
    FrameWalk all(*opened);
    while (const auto found = all.next()) one.index.take(*found);
    one.unfinished = opened->size() - all.whole();
  }
  opened->release();
  return OpenedFile{std::move(one), std::move(*opened)};
}

}  // namespace meterbank::recording
