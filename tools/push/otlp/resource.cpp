// SPDX-License-Identifier: Apache-2.0
#include "push/otlp/resource.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "meterbank/base/guid.hpp"
#include "meterbank/base/machine_name.hpp"
#include "push/otlp/attributes.hpp"
#include "push/otlp/otlp_fields.hpp"

namespace meterbank::push::otlp {
namespace {

constexpr Tag kTag = static_cast<Tag>(Resource::kAttributes);

class ResourceWriter {
 public:
  explicit ResourceWriter(const std::vector<exposition::Label>& more) : more_(more) {}

  template <typename Value>
  void add(std::string_view key, const Value& value) {
    const bool is_replaced =
        std::any_of(more_.begin(), more_.end(),
                    [key](const exposition::Label& label) { return label.name == key; });
    if (is_replaced) return;
    if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      append_attribute(resource_, kTag, key, std::string_view(value));
    } else {
      append_attribute(resource_, kTag, key, value);
    }
  }
  void add_if_known(std::string_view key, const std::string& value) {
    if (!value.empty()) add(key, std::string_view(value));
  }
  [[nodiscard]] std::string take() {
    add_if_known("host.name", machine_name());
    for (const exposition::Label& label : more_) {
      append_attribute(resource_, kTag, label.name, std::string_view(label.value));
    }
    return std::move(resource_);
  }

 private:
  const std::vector<exposition::Label>& more_;
  std::string resource_;
};

// Facts that a process is not asked about. The name of the provider is ours as well.
bool is_of_kernel(std::string_view key) noexcept {
  constexpr std::array<std::string_view, 7> kKeys = {
      "process.pid", "process.user.id", "host.name",         "container.id",
      "k8s.pod.uid", "systemd.unit",    "meterbank.provider"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// The same for each look at one provider, another one for each provider there is or was.
std::string instance_id_of(const exposition::PageProvider& provider) {
  const std::string life = fmt::format("{} {} {} {}", provider.name, provider.pid,
                                       provider.segment_id[0], provider.created_ns);
  const std::string guid = Guid::from_name(machine_name(), life).text();
  return guid.substr(1, guid.size() - 2);  // without braces
}

}  // namespace

std::string encode_resource(const exposition::PageProvider& provider,
                            const std::vector<Attribute>& context,
                            const std::vector<exposition::Label>& more) {
  const auto says = [&context](std::string_view key) {
    return std::any_of(context.begin(), context.end(),
                       [key](const Attribute& attribute) { return attribute.key == key; });
  };
  ResourceWriter resource(more);
  const bool has_name = says("service.name");
  resource.add(has_name ? "meterbank.provider" : "service.name", std::string_view(provider.name));
  if (!says("service.instance.id")) {
    resource.add("service.instance.id", std::string_view(instance_id_of(provider)));
  }
  for (const Attribute& attribute : context) {
    if (is_of_kernel(attribute.key)) continue;
    std::visit([&](const auto& value) { resource.add(attribute.key, value); }, attribute.value);
  }
  resource.add("process.pid", std::int64_t{provider.pid});
  resource.add("process.user.id", std::int64_t{provider.uid});
  resource.add_if_known("container.id", provider.container);
  resource.add_if_known("k8s.pod.uid", provider.pod);
  resource.add_if_known("systemd.unit", provider.unit);
  return resource.take();
}

std::string encode_own_resource(const std::vector<exposition::Label>& more) {
  ResourceWriter resource(more);
  resource.add("service.name", std::string_view("meterbank-agent"));
  resource.add("process.pid", std::int64_t{::getpid()});
  return resource.take();
}

}  // namespace meterbank::push::otlp
