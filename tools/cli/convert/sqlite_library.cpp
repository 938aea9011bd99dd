// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/sqlite_library.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "cli/convert/loaded_library.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Of sqlite3.h.
constexpr int kSqliteOk = 0;
constexpr int kFull = 13;
constexpr int kIoError = 10;
constexpr int kDone = 101;
constexpr int kReadWrite = 2, kCreate = 4;

// The functions of the library, by their names in it.
struct Library {
  int (*open_v2)(const char*, void**, int, const char*) = nullptr;
  int (*close)(void*) = nullptr;
  int (*exec)(void*, const char*, void*, void*, void*) = nullptr;
  int (*prepare_v2)(void*, const char*, int, void**, const char**) = nullptr;
  int (*bind_int64)(void*, int, long long) = nullptr;
  int (*bind_double)(void*, int, double) = nullptr;
  int (*bind_text)(void*, int, const char*, int, void (*)(void*)) = nullptr;
  int (*bind_null)(void*, int) = nullptr;
  int (*step)(void*) = nullptr;
  int (*reset)(void*) = nullptr;
  int (*finalize)(void*) = nullptr;
  const char* (*errmsg)(void*) = nullptr;
};

// Null: the library is not there, or lacks a function.
const Library* load() {
  static Library functions;
  static const bool has_all = [] {
    LoadedLibrary library("libsqlite3.so.0");
    library.find("sqlite3_open_v2", functions.open_v2);
    library.find("sqlite3_close", functions.close);
    library.find("sqlite3_exec", functions.exec);
    library.find("sqlite3_prepare_v2", functions.prepare_v2);
    library.find("sqlite3_bind_int64", functions.bind_int64);
    library.find("sqlite3_bind_double", functions.bind_double);
    library.find("sqlite3_bind_text", functions.bind_text);
    library.find("sqlite3_bind_null", functions.bind_null);
    library.find("sqlite3_step", functions.step);
    library.find("sqlite3_reset", functions.reset);
    library.find("sqlite3_finalize", functions.finalize);
    library.find("sqlite3_errmsg", functions.errmsg);
    return library.has_all();
  }();
  return has_all ? &functions : nullptr;
}

}  // namespace

struct SqliteDatabase::Parts {
  const Library* library = nullptr;
  void* database = nullptr;
  std::string path;

  ~Parts() {
    if (database != nullptr) library->close(database);
  }
  [[nodiscard]] tl::unexpected<Error> failure(int code) const {
    const bool is_full = code == kFull || (code & 0xff) == kIoError;
    return fail(
        is_full ? ErrorCode::kNoSpace : ErrorCode::kSystem,
        fmt::format("cannot write {}: {}", path, escape_for_terminal(library->errmsg(database))),
        "another place with -o FILE");
  }
};

SqliteDatabase::SqliteDatabase(std::shared_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
SqliteDatabase::SqliteDatabase(SqliteDatabase&&) noexcept = default;
SqliteDatabase::~SqliteDatabase() = default;

Result<SqliteDatabase> SqliteDatabase::create(const std::string& path) {
  const Library* const library = load();
  if (library == nullptr) {
    return fail(ErrorCode::kSystem, "-f sqlite needs libsqlite3.so.0, which is not there",
                "apt-get install libsqlite3-0");
  }
  auto parts = std::make_shared<Parts>();
  parts->library = library;
  parts->path = path;
  const int code = library->open_v2(path.c_str(), &parts->database, kReadWrite | kCreate, nullptr);
  if (code != kSqliteOk) return parts->failure(code);
  return SqliteDatabase(std::move(parts));
}

Result<void> SqliteDatabase::execute(const char* statements) {
  const int code = parts_->library->exec(parts_->database, statements, nullptr, nullptr, nullptr);
  if (code != kSqliteOk) return parts_->failure(code);
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(const char* statement) {
  void* prepared = nullptr;
  const int code = parts_->library->prepare_v2(parts_->database, statement, -1, &prepared, nullptr);
  if (code != kSqliteOk) return parts_->failure(code);
  return SqliteStatement(parts_, prepared);
}

Result<void> SqliteDatabase::close() {
  const int code = parts_->library->close(parts_->database);
  if (code != kSqliteOk) return parts_->failure(code);
  parts_->database = nullptr;
  return {};
}

SqliteStatement::SqliteStatement(std::shared_ptr<SqliteDatabase::Parts> parts,
                                 void* statement) noexcept
    : parts_(std::move(parts)), statement_(statement) {}
SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : parts_(std::move(other.parts_)),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_),
      failure_(other.failure_) {}
SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  std::swap(parts_, other.parts_);
  std::swap(statement_, other.statement_);
  return *this;
}
SqliteStatement::~SqliteStatement() {
  if (statement_ != nullptr) parts_->library->finalize(statement_);
}

void SqliteStatement::keep(int code) noexcept {
  if (failure_ == kSqliteOk) failure_ = code;
}

SqliteStatement& SqliteStatement::whole(std::int64_t value) {
  keep(parts_->library->bind_int64(statement_, ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::count(std::uint64_t value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value <= kMost) return whole(static_cast<std::int64_t>(value));
  return text(fmt::format("{}", value));
}

SqliteStatement& SqliteStatement::real(double value) {
  keep(parts_->library->bind_double(statement_, ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::text(std::string_view value) {
  // -1: SQLite makes a copy.
  constexpr std::intptr_t kTransient = -1;
  keep(parts_->library->bind_text(statement_, ++bound_, value.data() == nullptr ? "" : value.data(),
                                  static_cast<int>(value.size()),
                                  reinterpret_cast<void (*)(void*)>(kTransient)));
  return *this;
}

SqliteStatement& SqliteStatement::null() {
  keep(parts_->library->bind_null(statement_, ++bound_));
  return *this;
}

Result<void> SqliteStatement::run() {
  const int bound = std::exchange(failure_, kSqliteOk);
  bound_ = 0;
  if (bound != kSqliteOk) return parts_->failure(bound);
  const int code = parts_->library->step(statement_);
  if (code != kDone) {
    auto failed = parts_->failure(code);
    parts_->library->reset(statement_);
    return failed;
  }
  parts_->library->reset(statement_);
  return {};
}

}  // namespace meterbank::cli
