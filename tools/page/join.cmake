# SPDX-License-Identifier: Apache-2.0
#
# cmake -DOUTPUT=file -DFOLDER=folder -DSCRIPTS=name,... -P join.cmake
# Joins page, style and scripts into one document, and writes a source file with it and with the policy that lets a
# browser run exactly these scripts. Comments are left out.
function(read_ascii file out)
  file(READ "${file}" text)
  if(text MATCHES "[^\t\n -~]")
    message(FATAL_ERROR "${file} has a character that is not ASCII: write it as an escape")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# The hash of a text, as policies spell it.
function(hash_word text out)
  string(SHA256 hex "${text}")
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(word "")
  # 32 bytes are ten groups of three, and two bytes.
  string(APPEND hex "00")
  foreach(group RANGE 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${hex}" ${at} 6 digits)
    math(EXPR bits "0x${digits}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND word "${letter}")
    endforeach()
  endforeach()
  string(REGEX REPLACE ".$" "=" word "${word}")
  set(${out} "'sha256-${word}'" PARENT_SCOPE)
endfunction()

read_ascii("${FOLDER}/assets/page.css" style)
string(REPLACE "," ";" scripts "${SCRIPTS}")
set(script "(() => {\n'use strict';\n")
foreach(name IN LISTS scripts)
  read_ascii("${FOLDER}/assets/${name}.js" own)
  string(REGEX REPLACE "\n *//[^\n]*" "" own "\n${own}")
  string(REGEX REPLACE " +// [^\n]*" "" own "${own}")
  string(REGEX REPLACE "\n +" "\n" own "${own}")
  # No text of the page has one of these between blanks.
  string(REGEX REPLACE " (=>|[!=]==|&&|[|][|]|[-+*]?=|[<>]=?) " "\\1" own "${own}")
  string(APPEND script "${own}")
endforeach()
string(APPEND script "})();\n")

hash_word("${script}" script_hash)
hash_word("${style}" style_hash)
set(policy "default-src 'none'; script-src ${script_hash}; style-src ${style_hash}; img-src data:; connect-src 'self'; ")
string(APPEND policy "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'")

read_ascii("${FOLDER}/assets/page.html" page)
string(REPLACE "@POLICY@" "${policy}" page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
string(FIND "${page}" "@DATA@" middle)
string(SUBSTRING "${page}" 0 ${middle} before)
math(EXPR middle "${middle} + 6")
string(SUBSTRING "${page}" ${middle} -1 after)

# Compilers need not take longer literals than 65,536 bytes.
function(pieces text out)
  set(list "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 16000 piece)
    string(APPEND list "      R\"piece(${piece})piece\",\n")
    math(EXPR at "${at} + 16000")
  endwhile()
  set(${out} "${list}" PARENT_SCOPE)
endfunction()
pieces("${before}" before)
pieces("${after}" after)
file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
#include \"page/asset.hpp\"

namespace meterbank::page {
namespace {

template <std::size_t kCount>
std::string joined(const std::string_view (&pieces)[kCount]) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

}  // namespace

const Asset& page_asset() {
  static constexpr std::string_view kBefore[]{
${before}  };
  static constexpr std::string_view kAfter[]{
${after}  };
  static const Asset asset{joined(kBefore), joined(kAfter),
                            \"${policy}\"};
  return asset;
}

}  // namespace meterbank::page
")
