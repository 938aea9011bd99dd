// SPDX-License-Identifier: Apache-2.0
//
// How set-up paths report that the world said no.
//
// What the system refuses (no permission, no space, name taken) is a `Result`. What another process
// wrote is a value of the enum that the reading function documents. A broken precondition is a bug
// of the caller and is not reported: the sanitizer builds of the tests look for those. Nothing here
// is used on the publish path.
//
// Lack of memory: a function of `publisher`, `reader` or `pmu` that returns a Result (or
// pmu::Asked) reports it as kNoSpace and does not throw. Other functions that allocate may throw
// std::bad_alloc, and nothing else. Both leave their objects as they were, so that the call can be
// made again. What is noexcept does not allocate, or says what it does instead.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace meterbank {

// Stable names: the CLI prints them, scripts match them, docs/errors.md lists them.
enum class ErrorCode : std::uint32_t {
  kInvalidArgument,  // a parameter breaks its documented rule
  kBadName,          // empty, over-long, not UTF-8, control characters
  kBadPath,          // a counter path that does not parse
  kExists,           // the name or the set is already taken
  kNotFound,         // nothing matches
  kLimit,            // a quota of this library refused it
  kNoSpace,          // memory, tmpfs, RLIMIT_FSIZE or the like is exhausted
  kNoDirectory,      // the runtime directory is missing, unsafe or not writable
  kDenied,           // the kernel refused permission
  kNotSealable,      // attach gate: not a memfd (device, pipe, directory, disk file)
  kUnsealed,         // attach gate: seals missing
  kWrongFilesystem,  // attach gate: hugetlb or another filesystem
  kBadSize,          // attach gate: zero, odd, or beyond the cap
  kSparse,           // attach gate: holes, which would fault or charge the reader
  kNotASegment,      // no segment magic
  kNewerLayout,      // written by a newer major layout version
  kWrongAbi,         // other byte order or word size
  kCorrupt,          // a field contradicts the mapped size or a documented cap
  kGone,             // the provider or its descriptor vanished meanwhile
  kClosed,           // used after close
  kForked,           // used in the child of a fork
  kForeign,          // cannot be verified from here: another pid namespace, or no procfs
  kTimeout,          // another process did not answer in time
  kSystem,           // any other system call failure, see system_error
};

[[nodiscard]] std::string_view name_of(ErrorCode code) noexcept;

struct Error {
  ErrorCode code = ErrorCode::kSystem;
  int system_error = 0;  // errno, or 0
  std::string what;      // object and cause: "segment of orders@123: unsealed memfd"
  std::string remedy;    // what to try, may be empty

  // "what (errno text); try: remedy", one line.
  [[nodiscard]] std::string message() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string what,
                                                std::string remedy = {}, int system_error = 0) {
  return tl::make_unexpected(Error{code, system_error, std::move(what), std::move(remedy)});
}

// Says that memory has run out without needing any: its texts fit into the strings themselves.
[[nodiscard]] inline Error out_of_memory() noexcept {
  return Error{ErrorCode::kNoSpace, ENOMEM, "out of memory", "raise ulimit -v"};
}

}  // namespace meterbank
