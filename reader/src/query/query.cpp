// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/query.hpp"

#include <utility>

#include "compiled_query.hpp"
#include "meterbank/base/report_no_memory.hpp"

namespace meterbank {
Query::Query(std::unique_ptr<CompiledQuery> compiled) noexcept : compiled_(std::move(compiled)) {}
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;
Query::~Query() = default;

Result<Query> Query::compile(const Catalog& catalog, const std::vector<std::string>& patterns,
                             const std::vector<std::string>& excluded) {
  return report_no_memory([&]() -> Result<Query> {
    auto request = QueryRequest::of_patterns(patterns, excluded);
    if (!request) return tl::make_unexpected(std::move(request.error()));
    Query query(std::make_unique<CompiledQuery>());
    query.compiled_->build(catalog.providers(),
                           std::make_shared<const QueryRequest>(*std::move(request)));
    return query;
  });
}

Result<Query> Query::compile_part(const Query& whole, const Catalog& catalog,
                                  const std::vector<std::string>& patterns,
                                  const std::vector<std::string>& excluded) {
  return report_no_memory([&]() -> Result<Query> {
    auto request = QueryRequest::of_patterns(patterns, excluded);
    if (!request) return tl::make_unexpected(std::move(request.error()));
    Query query(std::make_unique<CompiledQuery>(*whole.compiled_, nullptr));
    query.compiled_->build(catalog.providers(),
                           std::make_shared<const QueryRequest>(*std::move(request)));
    return query;
  });
}

bool Query::update(const Catalog& catalog) { return compiled_->update(catalog); }

CollectSummary Query::collect(Sample& sample, Timestamp time, Cut cut) noexcept {
  return compiled_->collect(sample, time, cut);
}

CollectSummary Query::collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut) {
  return compiled_->collect(sample, timeout, cut);
}

bool Query::enumerate(std::chrono::nanoseconds timeout) { return compiled_->enumerate(timeout); }

bool Query::asks() const noexcept { return compiled_->asks(); }

std::shared_ptr<const std::vector<CallbackAnswer>> Query::answers() const noexcept {
  return compiled_->answers();
}

AskCounts Query::ask_counts() const noexcept { return compiled_->ask_counts(); }

std::uint64_t Query::version() const noexcept { return compiled_->version(); }

void Query::prepare(Sample& sample) const { compiled_->prepare(sample); }

std::vector<SelectedSet> Query::selected() const { return selected_in(*compiled_->plan()); }

std::span<const std::shared_ptr<const ProviderView>> Query::left_out() const noexcept {
  return compiled_->plan()->left_out;
}

const std::vector<Unmatched>& Query::unmatched() const noexcept { return compiled_->unmatched(); }

std::vector<std::string> Query::expanded(PathSpelling spelling) const {
  return compiled_->expanded(spelling);
}

}  // namespace meterbank
