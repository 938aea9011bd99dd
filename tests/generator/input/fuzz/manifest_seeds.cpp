// SPDX-License-Identifier: Apache-2.0
//
//   manifest_seeds DIRECTORY
//
// Writes the good manifests of the tests, and pieces of what has a meaning, as inputs to begin
// with. METERBANK_SEEDS_XML tells which of the two languages.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
#ifdef METERBANK_SEEDS_XML
  constexpr std::string_view kSuffix = ".man";
  constexpr std::array kPieces{
      "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
      "<?xml version='1.0' encoding='UTF-8'?><!-- a --><a b='&#65;&#x42;&lt;'><![CDATA[c]]></a>",
      R"(<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
<instrumentation><c:counters xmlns:c="http://schemas.microsoft.com/win/2005/12/counters"
 schemaVersion="2.0"><c:provider/></c:counters></instrumentation></instrumentationManifest>)",
  };
#else
  constexpr std::string_view kSuffix = ".toml";
  constexpr std::array kPieces{
      "a.b.\"c\".'d' = {e = [1, 2.5, true, 1979-05-27], f = 0x1F}\n",
      "a = \"\"\"\\\n b\\u00e4\"\"\"\nc = '''d'''\n",
      "[provider]\nname = 'p'\n[[counterset]]\nname = 's'\n[[counterset.counter]]\nid = 1\n"
      "type = 'histogram'\nbuckets = {least = 1, most = 2}\nattributes = ['reference']\n",
  };
#endif
  int number = 0;
  for (const char* const piece : kPieces) {
    std::ofstream(folder + "/piece-" + std::to_string(number++), std::ios::binary) << piece;
  }
  for (const auto& file : std::filesystem::directory_iterator(METERBANK_GOOD_MANIFESTS)) {
    if (file.path().extension() != kSuffix) continue;
    std::filesystem::copy_file(file.path(), folder / file.path().filename());
  }
  return 0;
}
