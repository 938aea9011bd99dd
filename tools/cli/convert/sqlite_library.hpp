// SPDX-License-Identifier: Apache-2.0
//
// A database that is written, by the SQLite library of this machine. It is loaded when it is needed
// and not before: `meterbank list` takes a millisecond, and machines without the library have all
// the rest of the program. What is called has been the same since SQLite 3.7.
//
// Errors  kSystem: the library is missing, or SQLite reports an error. kNoSpace: the disk is full.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

class SqliteStatement;

class SqliteDatabase {
 public:
  // Makes the file, or opens an empty one.
  static Result<SqliteDatabase> create(const std::string& path);
  SqliteDatabase(SqliteDatabase&&) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&&) = delete;
  ~SqliteDatabase();

  Result<void> execute(const char* statements);
  Result<SqliteStatement> prepare(const char* statement);
  // Everything is in the file afterwards.
  Result<void> close();

 private:
  friend class SqliteStatement;
  struct Parts;
  explicit SqliteDatabase(std::shared_ptr<Parts> parts) noexcept;
  std::shared_ptr<Parts> parts_;
};

// An INSERT. Values are bound in their order, run() writes the row.
class SqliteStatement {
 public:
  SqliteStatement(SqliteStatement&&) noexcept;
  SqliteStatement& operator=(SqliteStatement&&) noexcept;
  ~SqliteStatement();

  SqliteStatement& whole(std::int64_t value);
  // Beyond 2^63, as text: SQLite has no larger numbers, and computes with such a text all the same.
  SqliteStatement& count(std::uint64_t value);
  SqliteStatement& real(double value);  // NaN becomes NULL
  SqliteStatement& text(std::string_view value);
  SqliteStatement& null();
  Result<void> run();

 private:
  friend class SqliteDatabase;
  SqliteStatement(std::shared_ptr<SqliteDatabase::Parts> parts, void* statement) noexcept;
  void keep(int code) noexcept;

  std::shared_ptr<SqliteDatabase::Parts> parts_;
  void* statement_ = nullptr;
  int bound_ = 0;
  int failure_ = 0;
};

}  // namespace meterbank::cli
