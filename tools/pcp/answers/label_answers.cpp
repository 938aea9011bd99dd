// SPDX-License-Identifier: Apache-2.0
#include "pcp/answers/label_answers.hpp"

#include <pcp/pmda.h>

#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

namespace meterbank::pcp {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& labels) {
  return labels.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// No label has a name that was taken before it.
bool is_taken(const Json& labels, const std::string& name) {
  return labels.contains(name) || name == "container" || name == "pod" || name == "unit";
}

}  // namespace

std::string labels_of(const Layout& layout, const Domain& domain, const ShownInstance& instance) {
  const RowProvider& provider = layout.providers[layout.blocks[instance.block].provider];
  Json labels = {{"provider", provider.name}, {"pid", provider.pid}, {"uid", provider.uid}};
  const auto add = [&labels](const char* name, const std::string& value) {
    if (!value.empty()) labels[name] = value;
  };
  if (!instance.plain.empty()) {
    const bool is_free = !is_taken(labels, domain.label);
    labels[is_free ? domain.label : "instance_name"] = instance.plain;
  }
  add("container", provider.container);
  add("pod", provider.pod);
  add("unit", provider.unit);
  return text_of(labels);
}

int answer_instance_labels(const Layout& layout, pmInDom domain_id, pmLabelSet** labels) {
  const Domain* const domain = layout.find_domain(domain_id);
  if (domain == nullptr) return PM_ERR_INDOM;
  const std::size_t count = domain->instances.size();
  if (count == 0) return 0;
  auto* const sets = static_cast<pmLabelSet*>(std::calloc(count, sizeof(pmLabelSet)));
  if (sets == nullptr) throw std::bad_alloc();
  for (std::size_t index = 0; index < count; ++index) {
    const ShownInstance& instance = domain->instances[index];
    pmLabelSet* one = nullptr;
    const int added = pmdaAddLabels(&one, "%s", labels_of(layout, *domain, instance).c_str());
    if (one != nullptr && added >= 0) {
      pmdaAddLabelFlags(one, PM_LABEL_INSTANCES);
      sets[index] = *one;
      std::free(one);  // what it points to is in `sets` now
    } else {
      sets[index].nlabels = 0;
    }
    sets[index].inst = static_cast<unsigned>(instance.id);
  }
  *labels = sets;
  return static_cast<int>(count);
}

int answer_metric_labels(const Layout& layout, pmID id, pmLabelSet** labels) {
  const Metric* const metric = layout.find(id);
  if (metric == nullptr) return PM_ERR_PMID;
  if (metric->ucum.empty()) return 0;
  const int added = pmdaAddLabels(labels, "%s", text_of({{"ucum", metric->ucum}}).c_str());
  return added < 0 ? added : pmdaAddLabelFlags(*labels, PM_LABEL_ITEM);
}

}  // namespace meterbank::pcp
