// SPDX-License-Identifier: Apache-2.0
//
// A directory of providers each field of which is hostile. The library refuses such names, so the
// fields are harmless until all is published, and are then overwritten in the shared memory.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../support/scripted_provider.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank::test {

class HostileWorld {
 public:
  explicit HostileWorld(std::string group);
  HostileWorld(const HostileWorld&) = delete;
  HostileWorld& operator=(const HostileWorld&) = delete;

  [[nodiscard]] const std::string& directory() const noexcept { return directory_.path(); }
  [[nodiscard]] const std::string& group() const noexcept { return group_; }
  // A file beside the directory, with `text` in it; the text and the name may be hostile.
  std::string write(const std::string& name, const std::string& text);
  // The text of a field; no '/' and NUL in a name of a file.
  [[nodiscard]] std::string hostile(std::string_view tag) const;
  [[nodiscard]] std::string hostile_file_name(std::string_view tag) const;

 private:
  void publish();
  void publish_callbacks();
  void overwrite_fields();
  void rewrite_records();
  void add_odd_files();

  std::string group_;
  TemporaryDirectory directory_;
  TemporaryDirectory beside_;
  std::optional<Provider> provider_;
  std::list<Instance> instances_;
  std::vector<Registration> registrations_;
  std::unique_ptr<ScriptedProvider> scripted_;
  std::jthread recording_;
};

// Fields of which at least one output of one verb shows something, by tag.
struct ForeignField {
  std::string_view tag;
  std::string_view what;
  bool is_printed = true;     // false: by no verb, today
  bool is_refusable = false;  // some groups are refused where they come in, and not repeated
};
[[nodiscard]] const std::vector<ForeignField>& foreign_fields();

}  // namespace meterbank::test
