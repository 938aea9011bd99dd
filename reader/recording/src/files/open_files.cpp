// SPDX-License-Identifier: Apache-2.0
#include "open_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "meterbank/base/directory_stream.hpp"

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
    const int error = errno;
    if (code_of(error) != ErrorCode::kNotFound) {
      return fail(code_of(error), "cannot look at " + path, {}, error);
    }
    return fail(ErrorCode::kNotFound, "no recording at " + path, "meterbank record -o " + path,
                error);
  }
  if (!S_ISDIR(facts.st_mode)) return std::vector<std::string>{path};
  const DirectoryStream directory(::opendir(path.c_str()));
  if (directory == nullptr) {
    const int error = errno;
    return fail(code_of(error), "cannot read the directory " + path, {}, error);
  }
  std::vector<std::string> files;
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (std::string_view(entry->d_name).ends_with(kFileSuffix))
      files.push_back(path + '/' + entry->d_name);
  }
  // Names sort in the order in which a recorder made the files.
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    return fail(ErrorCode::kNotFound, path + " has no recording: no file *.mbr",
                "meterbank record -o " + path);
  }
  return files;
}

// A recorder holds its directory alone and numbers its files, so those of one run follow one
// another.
std::vector<Damage> foreign_and_missing(std::span<const RecordingFile> files,
                                        std::span<const Damage> unreadable) {
  std::map<Guid, std::size_t> last_of_run;  // index of its latest file
  std::vector<Damage> damages;
  for (std::size_t index = 0; index < files.size(); ++index) {
    const Head& head = files[index].head;
    const auto [known, is_new] = last_of_run.emplace(head.recorder, index);
    if (is_new) continue;
    const std::size_t before = std::exchange(known->second, index);
    const std::uint64_t sequence = files[before].head.sequence;
    if (head.sequence <= sequence) continue;  // parts that were saved, each on its own
    const auto named = static_cast<std::uint64_t>(
        std::count_if(unreadable.begin(), unreadable.end(), [&](const Damage& one) {
          return files[before].path < one.path && one.path < files[index].path;
        }));
    if (const std::uint64_t missing = head.sequence - sequence - 1; missing > named) {
      damages.push_back(
          {files[index].path, 0, 0,
           "files before it are missing, or have no head: " + std::to_string(missing - named)});
    }
    if (index != before + 1) {
      damages.push_back({files[before + 1].path, 0, 0,
                         "another recorder's file among those of one that went on"});
    }
  }
  return damages;
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
