// SPDX-License-Identifier: Apache-2.0
//
// An archive that is written, by PCP's library for that, libpcp_import. It is loaded when it is
// needed and not before, as that of SQLite is.
//
// One archive at a time: the library has a current one.
//
// Errors  kSystem: there is no such library, or what it says. kNoSpace: the disk is full.
#pragma once

#include <pcp/pmapi.h>

#include <memory>
#include <string>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

class PcpArchive {
 public:
  // `base`: of the names of its files, of which none is there. `host`: whose counters they are.
  static Result<PcpArchive> create(const std::string& base, const std::string& host);
  PcpArchive(PcpArchive&&) noexcept;
  PcpArchive& operator=(PcpArchive&&) = delete;
  ~PcpArchive();

  // Each once, before the first result that has it. `kind`: PM_TEXT_ONELINE and the like;
  // `value`: a text as JSON has it between its quotes.
  Result<void> add_metric(const std::string& name, const pmDesc& desc);
  // False: the domain has an instance of this name or number.
  Result<bool> add_instance(pmInDom domain, const std::string& name, int id);
  Result<void> put_text(unsigned kind, unsigned id, const std::string& text);
  // False: PCP takes no such label.
  bool put_label(unsigned kind, unsigned id, const std::string& name, const std::string& value);
  // Times do not fall. PCP keeps microseconds.
  Result<void> put(const pmResult& result);
  // The same of one metric, value by value. The library writes texts and labels only with values
  // that it was given this way.
  Result<void> put_value(const std::string& metric, const std::string& instance,
                         const std::string& value);
  Result<void> write_values(const timeval& time);
  // Values before and after are not those of one run: nothing is interpolated between them.
  Result<void> put_mark();
  // Everything is in the files afterwards.
  Result<void> close();

 private:
  struct Parts;
  explicit PcpArchive(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace meterbank::cli
