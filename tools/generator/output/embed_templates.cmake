# SPDX-License-Identifier: Apache-2.0
#
# cmake -DOUTPUT=file -DFOLDER=folder -DNAMES=name,... -P embed_templates.cmake
# Writes a source file with the texts of FOLDER/NAME.mustache, so that the program needs no files.
string(REPLACE "," ";" names "${NAMES}")
set(entries "")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}.mustache" text)
  string(APPEND entries "    {\"${name}\", R\"mustache(${text})mustache\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
#include \"generator/output/built_in.hpp\"

namespace meterbank::generator {

std::span<const BuiltInTemplate> built_in_templates() noexcept {
  static constexpr BuiltInTemplate kAll[]{
${entries}  };
  return kAll;
}

}  // namespace meterbank::generator
")
