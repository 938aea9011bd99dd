// SPDX-License-Identifier: Apache-2.0
//
// What pmcd asks this program, and where the answers come from. pmcd sends one request at a time,
// and waits for its answer for some seconds (pmcd -t).
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include <string>

#include "pcp/answers/fetch_answer.hpp"
#include "pcp/layout/observer.hpp"

namespace meterbank::pcp {

class Agent {
 public:
  explicit Agent(Observer observer) : observer_(std::move(observer)) {}

  // Answers what pmcd asks on standard input, until it ends. False: libpcp could not start; it has
  // said why in the log.
  [[nodiscard]] bool serve(pmdaInterface& interface);

 private:
  // The functions of pmdaInterface. None of them throws.
  static int fetch(int count, pmID* ids, pmResult** result, pmdaExt* extension);
  static int desc(pmID id, pmDesc* desc, pmdaExt* extension);
  static int instance(pmInDom domain, int id, char* name, pmInResult** result, pmdaExt* extension);
  static int text(int identifier, int type, char** text, pmdaExt* extension);
  static int store(pmResult* values, pmdaExt* extension);
  static int pmid(const char* name, pmID* id, pmdaExt* extension);
  static int names(pmID id, char*** names, pmdaExt* extension);
  static int children(const char* name, int traverses, char*** children, int** statuses,
                      pmdaExt* extension);
  static int labels(int identifier, int type, pmLabelSet** labels, pmdaExt* extension);

  [[nodiscard]] static Agent& of(pmdaExt* extension);
  // Of the last second.
  [[nodiscard]] static const Layout& layout_of(pmdaExt* extension);

  Observer observer_;
  FetchAnswer answer_;
};

}  // namespace meterbank::pcp
