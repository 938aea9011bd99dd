// SPDX-License-Identifier: Apache-2.0
#include "pcp/agent.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <span>

#include "pcp/answers/label_answers.hpp"
#include "pcp/answers/name_answers.hpp"

namespace meterbank::pcp {
namespace {

// libpcp is written in C: nothing may be thrown through it.
template <typename Answer>
int guarded(Answer answer) noexcept {
  try {
    return answer();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (const std::exception&) {
    return PM_ERR_GENERIC;
  }
}

// pmcd sets the time of a result. Until then its first byte says what changed, as pmdaFetch() would
// say it: clients that keep names and labels look again.
void tell(pmResult& result, unsigned changes) noexcept {
  const auto byte = static_cast<unsigned char>(changes);
  std::memcpy(&result.timestamp, &byte, sizeof byte);
}

}  // namespace

Agent& Agent::of(pmdaExt* extension) { return *static_cast<Agent*>(pmdaExtGetData(extension)); }

const Layout& Agent::layout_of(pmdaExt* extension) {
  Agent& agent = of(extension);
  agent.observer_.look_for_names();
  return agent.observer_.layout();
}

int Agent::fetch(int count, pmID* ids, pmResult** result, pmdaExt* extension) {
  return guarded([&] {
    Agent& agent = of(extension);
    agent.observer_.look();
    const std::span<const pmID> wanted(ids, static_cast<std::size_t>(count));
    *result = agent.answer_.make(wanted, agent.observer_, extension->e_prof);
    tell(**result, agent.observer_.take_changes());
    return 0;
  });
}

int Agent::desc(pmID id, pmDesc* desc, pmdaExt* extension) {
  return guarded([&] {
    const Metric* const metric = layout_of(extension).find(id);
    if (metric == nullptr) return PM_ERR_PMID;
    *desc = metric->desc;
    return 0;
  });
}

int Agent::instance(pmInDom domain, int id, char* name, pmInResult** result, pmdaExt* extension) {
  return guarded([&] { return answer_instances(layout_of(extension), domain, id, name, result); });
}

int Agent::text(int identifier, int type, char** text, pmdaExt* extension) {
  return guarded([&] {
    const Layout& layout = layout_of(extension);
    const bool is_short = (type & PM_TEXT_ONELINE) != 0;
    const std::string* found = nullptr;
    if ((type & PM_TEXT_PMID) != 0) {
      const Metric* const metric = layout.find(static_cast<pmID>(identifier));
      if (metric == nullptr) return PM_ERR_PMID;
      found = is_short ? &metric->oneline : &metric->help;
    } else {
      const Domain* const domain = layout.find_domain(static_cast<pmInDom>(identifier));
      if (domain == nullptr) return PM_ERR_INDOM;
      found = is_short ? &domain->oneline : &domain->help;
    }
    if (found->empty()) return PM_ERR_TEXT;
    // It is sent before the layout changes, and never written to.
    *text = const_cast<char*>(found->c_str());
    return 0;
  });
}

int Agent::store(pmResult* /*values*/, pmdaExt* /*extension*/) { return PM_ERR_PERMISSION; }

int Agent::pmid(const char* name, pmID* id, pmdaExt* extension) {
  return guarded([&] { return answer_id(layout_of(extension), name, id); });
}

int Agent::names(pmID id, char*** names, pmdaExt* extension) {
  return guarded([&] { return answer_names(layout_of(extension), id, names); });
}

int Agent::children(const char* name, int traverses, char*** children, int** statuses,
                    pmdaExt* extension) {
  return guarded([&] {
    return answer_children(layout_of(extension), name, traverses != 0, children, statuses);
  });
}

int Agent::labels(int identifier, int type, pmLabelSet** labels, pmdaExt* extension) {
  return guarded([&] {
    const Layout& layout = layout_of(extension);
    if ((type & PM_LABEL_INSTANCES) != 0) {
      return answer_instance_labels(layout, static_cast<pmInDom>(identifier), labels);
    }
    if ((type & PM_LABEL_ITEM) != 0) {
      return answer_metric_labels(layout, static_cast<pmID>(identifier), labels);
    }
    if ((type & PM_LABEL_DOMAIN) != 0) return pmdaLabel(identifier, type, labels, extension);
    return 0;
  });
}

bool Agent::serve(pmdaInterface& interface) {
  if (interface.status != 0) return false;
  auto& calls = interface.version.seven;
  calls.fetch = &Agent::fetch;
  calls.desc = &Agent::desc;
  calls.instance = &Agent::instance;
  calls.text = &Agent::text;
  calls.store = &Agent::store;
  calls.pmid = &Agent::pmid;
  calls.name = &Agent::names;
  calls.children = &Agent::children;
  calls.label = &Agent::labels;
  pmdaSetData(&interface, this);
  // The values belong to answer_.
  pmdaSetResultCallBack(&interface, [](pmResult* /*result*/) {});
  pmdaInit(&interface, nullptr, 0, nullptr, 0);
  pmdaConnect(&interface);
  if (interface.status != 0) return false;
  pmdaMain(&interface);
  return true;
}

}  // namespace meterbank::pcp
