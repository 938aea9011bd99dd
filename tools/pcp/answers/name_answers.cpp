// SPDX-License-Identifier: Apache-2.0
#include "pcp/answers/name_answers.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace meterbank::pcp {
namespace {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

template <typename T>
T* allocate(std::size_t bytes) {
  void* const memory = std::calloc(1, std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

// Pointers with their texts behind them, which one call frees.
char** list_of(std::span<const std::string> texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(char*) + text.size() + 1;
  char** const list = allocate<char*>(bytes);
  char* target = reinterpret_cast<char*>(list + texts.size());
  for (std::size_t index = 0; index < texts.size(); ++index) {
    list[index] = target;
    std::memcpy(target, texts[index].c_str(), texts[index].size() + 1);
    target += texts[index].size() + 1;
  }
  return list;
}

char* copy_of(const std::string& text) {
  char* const copy = allocate<char>(text.size() + 1);
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// Metrics whose names begin with `prefix`, which ends in a dot.
std::span<const Metric> metrics_below(const Layout& layout, const std::string& prefix) {
  const auto begin = std::lower_bound(
      layout.metrics.begin(), layout.metrics.end(), prefix,
      [](const Metric& metric, const std::string& wanted) { return metric.name < wanted; });
  const auto end = std::find_if(begin, layout.metrics.end(), [&prefix](const Metric& metric) {
    return !metric.name.starts_with(prefix);
  });
  return {begin, end};
}

}  // namespace

int answer_id(const Layout& layout, const char* name, pmID* id) {
  const Metric* const metric = layout.find(name);
  if (metric != nullptr) {
    *id = metric->desc.pmid;
    return 0;
  }
  const bool is_node = name == kRoot || !metrics_below(layout, std::string(name) + ".").empty();
  return is_node ? PM_ERR_NONLEAF : PM_ERR_NAME;
}

int answer_names(const Layout& layout, pmID id, char*** names) {
  const Metric* const metric = layout.find(id);
  if (metric == nullptr) return PM_ERR_PMID;
  *names = list_of(std::span(&metric->name, 1));
  return 1;
}

int answer_children(const Layout& layout, const char* name, bool traverses, char*** children,
                    int** statuses) {
  const std::string wanted(name);
  const std::string prefix = wanted + ".";
  const std::span<const Metric> below = metrics_below(layout, prefix);
  std::vector<std::string> texts;
  std::vector<int> kinds;
  if (below.empty()) {
    const bool is_metric = layout.find(wanted) != nullptr;
    if (!is_metric && wanted != kRoot) return PM_ERR_NAME;
    if (is_metric && traverses) {
      texts.push_back(wanted);
      kinds.push_back(PMNS_LEAF_STATUS);
    }
  }
  for (const Metric& metric : below) {
    const std::size_t dot = traverses ? std::string::npos : metric.name.find('.', prefix.size());
    const std::size_t from = traverses ? 0 : prefix.size();
    std::string text = metric.name.substr(from, dot == std::string::npos ? dot : dot - from);
    // Metrics below one node are side by side.
    if (!texts.empty() && texts.back() == text) continue;
    texts.push_back(std::move(text));
    kinds.push_back(dot == std::string::npos ? PMNS_LEAF_STATUS : PMNS_NONLEAF_STATUS);
  }
  std::unique_ptr<int, Free> status_list(allocate<int>(kinds.size() * sizeof(int)));
  std::copy(kinds.begin(), kinds.end(), status_list.get());
  *children = list_of(texts);
  *statuses = status_list.release();
  return static_cast<int>(texts.size());
}

int answer_instances(const Layout& layout, pmInDom domain_id, int instance, const char* name,
                     pmInResult** result) {
  const Domain* const domain = layout.find_domain(domain_id);
  if (domain == nullptr) return PM_ERR_INDOM;
  // What was asked with is not said again.
  const bool says_ids = static_cast<unsigned>(instance) == PM_IN_NULL;
  const bool says_names = name == nullptr;
  const std::vector<ShownInstance>& all = domain->instances;
  auto begin = all.begin();
  auto end = all.end();
  if (!says_names) {
    begin = std::find_if(all.begin(), all.end(),
                         [name](const ShownInstance& one) { return one.name == name; });
  } else if (!says_ids) {
    begin = std::lower_bound(all.begin(), all.end(), instance,
                             [](const ShownInstance& one, int wanted) { return one.id < wanted; });
    if (begin != end && begin->id != instance) begin = end;
  }
  if (!says_ids || !says_names) {
    if (begin == end) return PM_ERR_INST;
    end = begin + 1;
  }
  const auto count = static_cast<std::size_t>(end - begin);
  const auto free_all = [](pmInResult* made) {
    if (made->namelist != nullptr) {
      std::for_each(made->namelist, made->namelist + made->numinst, std::free);
    }
    std::free(made->namelist);
    std::free(made->instlist);
    std::free(made);
  };
  std::unique_ptr<pmInResult, decltype(free_all)> made(allocate<pmInResult>(sizeof(pmInResult)),
                                                       free_all);
  made->indom = domain_id;
  made->numinst = static_cast<int>(count);
  if (says_ids) made->instlist = allocate<int>(count * sizeof(int));
  if (says_names) made->namelist = allocate<char*>(count * sizeof(char*));
  for (std::size_t index = 0; index < count; ++index) {
    if (says_ids) made->instlist[index] = begin[static_cast<std::ptrdiff_t>(index)].id;
    if (says_names) {
      made->namelist[index] = copy_of(begin[static_cast<std::ptrdiff_t>(index)].name);
    }
  }
  *result = made.release();
  return 0;
}

}  // namespace meterbank::pcp
