// SPDX-License-Identifier: Apache-2.0
//
// The typed header: what the template speaks of.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/output/c_text.hpp"
#include "generator/output/cpp/initialisers.hpp"
#include "generator/output/cpp/members.hpp"
#include "generator/output/cpp/names.hpp"
#include "generator/output/cpp/spellings.hpp"
#include "generator/output/render.hpp"

namespace meterbank::generator {
namespace {

namespace mustache = kainjow::mustache;
using Data = mustache::data;

// Headers of the publisher library that a counterset includes.
using Headers = std::set<std::string>;

Data list() { return Data(Data::type::list); }

Data member_data(const Member& member) {
  Data data;
  data.set("name", member.name);
  data.set("type", member.type);
  data.set("parameter", member.parameter);
  data.set("statement", member.statement);
  data.set("before", member.before.empty() ? Data(false) : Data(member.before));
  return data;
}

Data fields_of(const std::vector<Initialiser>& fields) {
  Data all = list();
  for (const Initialiser& each : fields) {
    Data data;
    data.set("field", each.field);
    data.set("value", each.value);
    data.set("comment", each.comment.empty() ? Data(false) : Data(each.comment));
    all.push_back(data);
  }
  return all;
}

// What help and unit say, as lines of a comment above an enumerator.
Data about(const CounterSpec& counter) {
  std::string text(counter.help.empty() ? counter.name : counter.help);
  if (!counter.unit.empty()) text.append(" Unit: ").append(counter.unit);
  Data lines = list();
  for (const std::string& line : comment_lines(text)) lines.push_back(Data(line));
  return lines;
}

class CountersetPage {
 public:
  CountersetPage(const Manifest& manifest, const Counterset& counterset,
                 const CountersetNames& names)
      : spec_(spec_of(manifest, counterset, counters_)), names_(names) {
    data_.set("guid_is_derived", Data(counterset.guid.value.is_zero()));
    data_.set("provider", literal(manifest.provider.name.value));
    set_names();
    for (std::size_t i = 0; i < counters_.size(); ++i) add(counters_[i], names.counters[i]);
    set_functions();
    set_classes();
  }

  [[nodiscard]] const Data& data() const noexcept { return data_; }
  [[nodiscard]] const Headers& headers() const noexcept { return headers_; }

 private:
  void set_names() {
    data_.set("name", comment_text(spec_.name));
    data_.set("registration", names_.registration);
    data_.set("counter_enum", names_.with("Counter"));
    data_.set("k_counters", "k" + names_.with("Counters"));
    data_.set("k_set", "k" + names_.with("Set"));
    data_.set("handles", names_.with("Handles"));
    data_.set("update", names_.with("Update"));
    data_.set("instance", names_.with("Instance"));
    data_.set("fields", fields_of(initialisers_of(spec_)));
  }

  void add(const CounterSpec& counter, const CounterNames& names) {
    Data data;
    data.set("about", about(counter));
    data.set("enumerator", names.enumerator);
    data.set("fields", fields_of(initialisers_of(counter)));
    counter_data_.push_back(data);
    const CounterMembers functions(spec_, counter, names_, names);
    for (const Member& member : functions.members(MemberOf::kUpdate)) {
      update_members_.push_back(member_data(member));
    }
    for (const Member& member : functions.members(MemberOf::kInstance)) {
      instance_members_.push_back(member_data(member));
    }
    const Handle kept = functions.kept_handle();
    if (!kept.name.empty()) add_kept(kept, functions.position());
    const Handle given = functions.given_handle();
    if (!given.name.empty()) {
      const bool is_kept = given.name == kept.name;
      add_given(given, is_kept ? "handles_." + given.name
                               : "instance_." + given.found_by + "(" + functions.position() + ")");
    }
  }

  void add_kept(const Handle& handle, const std::string& position) {
    Data data;
    data.set("type", handle.type);
    data.set("name", handle.name);
    data.set("found_by", handle.found_by);
    data.set("position", position);
    handles_.push_back(data);
    // Counters are for any thread, and updates for one.
    if (handle.type == "Counter") return;
    update_has_handles_ = true;
    headers_.insert(handle.type == "ShardedRecorder" ? "sharded_recorder.hpp"
                                                     : "value_handles.hpp");
  }
  void add_given(const Handle& handle, const std::string& expression) {
    Data data;
    data.set("type", handle.type);
    data.set("name", handle.name);
    data.set("expression", expression);
    accessors_.push_back(data);
  }

  void set_functions() {
    data_.set("counters", counter_data_);
    data_.set("update_members", update_members_);
    data_.set("instance_members", instance_members_);
    data_.set("handle_list", handles_);
    data_.set("accessors", accessors_);
    data_.set("has_handles", Data(!handles_.is_empty_list()));
    data_.set("has_accessors", Data(!accessors_.is_empty_list()));
    data_.set("update_has_handles", Data(update_has_handles_));
    data_.set("is_stamped", Data(spec_.stamped));
    if (is_sharded(spec_)) headers_.insert("sharded.hpp");
    data_.set("has_update", Data(!update_members_.is_empty_list() || spec_.stamped));
  }

  void set_classes() {
    const bool sharded = is_sharded(spec_);
    const bool is_block = spec_.consistency == Consistency::kBlock;
    data_.set("instance_type", sharded ? "ShardedInstance" : "Instance");
    data_.set("values_type", sharded ? "ShardValues" : "Values");
    data_.set("create_function", sharded ? "create_sharded_instance" : "create_instance");
    data_.set("is_block", Data(is_block));
    data_.set("is_sharded", Data(sharded));
    // Where threads share a shard, readers see each change by itself.
    data_.set("is_atomic", Data(is_block && !sharded));
    data_.set("has_names", Data(has_instance_names(spec_.instances)));
    const bool is_good_name = is_free_name(spec_.label) && spec_.label != "options" &&
                              spec_.label != "instance" && spec_.label != names_.registration;
    data_.set("row", is_good_name ? std::string(spec_.label) : "name");
    data_.set("takes_callback", Data(check_callback(spec_).has_value()));
  }

  std::vector<CounterSpec> counters_;
  const CountersetSpec spec_;
  const CountersetNames& names_;
  Headers headers_{"exact.hpp", "instance.hpp", "provider.hpp", "schema.hpp"};
  bool update_has_handles_ = false;
  Data data_;
  Data counter_data_ = list();
  Data update_members_ = list();
  Data instance_members_ = list();
  Data handles_ = list();
  Data accessors_ = list();
};

}  // namespace

Result<std::string> cpp_header(const Manifest& manifest, const OutputOptions& options) {
  const std::vector<CountersetNames> names = names_of(manifest);
  Data page;
  Data countersets = list();
  Headers headers;
  for (std::size_t i = 0; i < manifest.countersets.size(); ++i) {
    const CountersetPage counterset(manifest, manifest.countersets[i], names[i]);
    countersets.push_back(counterset.data());
    headers.insert(counterset.headers().begin(), counterset.headers().end());
  }
  page.set("file", comment_text(file_name_of(manifest)));
  page.set("hash", hash_text_of(manifest));
  page.set("name_space", name_space_of(manifest, options));
  page.set("countersets", countersets);
  page.set("headers", list());
  for (const std::string& header : headers) page["headers"] << Data(header);
  return render("cpp", page, options);
}

}  // namespace meterbank::generator
