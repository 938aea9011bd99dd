// SPDX-License-Identifier: Apache-2.0
#include "read_text.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace meterbank::test {

std::string good_manifest(const std::string& name) {
  const std::string path = std::string(METERBANK_GOOD_MANIFESTS) + "/" + name;
  auto text = generator::read_manifest(path);
  EXPECT_TRUE(text.has_value()) << path;
  return text.value_or("");
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

std::string xml_counter(std::string_view attributes, std::string_view content,
                        std::string_view schema_version) {
  std::string text =
      R"(<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation>
<counters xmlns="http://schemas.microsoft.com/win/2005/12/counters" schemaVersion="VERSION">
 <provider providerName="p" providerGuid="{00000000-0000-0000-0000-000000000001}" symbol="P"
  applicationIdentity="p.exe">
 <counterSet name="s" symbol="S" guid="{00000000-0000-0000-0000-000000000002}")"
      R"( uri="s" description="d">
  <counter ATTRIBUTES>CONTENT</counter>
 </counterSet>
 </provider>
</counters>
</instrumentation>
</instrumentationManifest>
)";
  text = with(std::move(text), "VERSION", schema_version);
  text = with(std::move(text), "CONTENT", content);
  return with(std::move(text), "ATTRIBUTES", attributes);
}

std::string toml_counter(std::string_view keys) {
  std::string text = R"([provider]
name = "p"
[[counterset]]
name = "s"
[[counterset.counter]]
)";
  return text.append(keys).append("\n");
}

}  // namespace meterbank::test
