# SPDX-License-Identifier: Apache-2.0
#
# meterbank_generate(TARGET target MANIFEST file
#   [OUTPUTS output...] [DESTINATION folder] [PUBLIC]
#   [NAMESPACE name] [PREFIX text] [NOTIFICATION_CALLBACK] [TEMPLATES output=file...])
#
# Makes code and documents of a manifest whenever one of them is older than the manifest, and adds
# them to `target`, which can include them by their names. Everything is made again together, or
# nothing is touched: with a manifest that is refused, the build stops and the old files stay.
# Call it in the CMakeLists.txt that makes `target`.
#
# OUTPUTS is one or several of these, by default cpp; `output=name` gives the file another name. Of
# a manifest orders.toml (or orders.man) are made
#   cpp orders.hpp   c orders.h   code orders_counters.h   symbols orders_symbols.h   resources orders.rc
#   man orders.7     markdown orders.md   rules orders.rules.yml   dashboard orders.dashboard.json
# in DESTINATION, by default generated/ in the current build folder. With PUBLIC, those that link
# `target` can include them too; an interface library always shares them.
#
# The generator is the target meterbank::gen: the one that this build makes, or where
# METERBANK_GENERATOR names a program, that one.

# What the files of `stem` are called, "output=name" for each of `outputs`.
function(meterbank_name_outputs result stem outputs)
  set(names cpp=.hpp c=.h code=_counters.h symbols=_symbols.h resources=.rc man=.7 markdown=.md
    rules=.rules.yml dashboard=.dashboard.json)
  set(named)
  foreach(output IN LISTS outputs)
    if(output MATCHES "^([a-z]+)=(.+)$")
      set(kind "${CMAKE_MATCH_1}")
      set(name "${CMAKE_MATCH_2}")
    else()
      set(kind "${output}")
      set(name)
    endif()
    set(usual "${names}")
    list(FILTER usual INCLUDE REGEX "^${kind}=")
    if(NOT usual)
      message(FATAL_ERROR "meterbank_generate: no output '${kind}'; try: cpp, c, code, symbols, "
        "resources, man, markdown, rules or dashboard")
    endif()
    if(NOT name)
      string(REGEX REPLACE "^[a-z]+=" "${stem}" name "${usual}")
    endif()
    list(APPEND named "${kind}=${name}")
  endforeach()
  set(${result} "${named}" PARENT_SCOPE)
endfunction()

function(meterbank_generate)
  set(flags NOTIFICATION_CALLBACK PUBLIC)
  set(single TARGET MANIFEST DESTINATION NAMESPACE PREFIX)
  cmake_parse_arguments(PARSE_ARGV 0 arg "${flags}" "${single}" "OUTPUTS;TEMPLATES")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "meterbank_generate: what is meant by "
      "${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}?")
  endif()
  if(NOT TARGET "${arg_TARGET}")
    message(FATAL_ERROR "meterbank_generate: TARGET '${arg_TARGET}' is not a target")
  endif()
  if(NOT arg_MANIFEST)
    message(FATAL_ERROR "meterbank_generate: no MANIFEST")
  endif()
  meterbank_find_generator()
  if(NOT arg_OUTPUTS)
    set(arg_OUTPUTS cpp)
  endif()
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION generated)
  endif()
  cmake_path(ABSOLUTE_PATH arg_MANIFEST NORMALIZE)
  cmake_path(ABSOLUTE_PATH arg_DESTINATION BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  cmake_path(GET arg_MANIFEST STEM LAST_ONLY stem)
  meterbank_name_outputs(outputs "${stem}" "${arg_OUTPUTS}")

  set(files)
  set(options)
  foreach(output IN LISTS outputs)
    string(REGEX MATCH "^([a-z]+)=(.+)$" output "${output}")
    list(APPEND options "--${CMAKE_MATCH_1}" "${arg_DESTINATION}/${CMAKE_MATCH_2}")
    list(APPEND files "${arg_DESTINATION}/${CMAKE_MATCH_2}")
  endforeach()
  foreach(name NAMESPACE PREFIX)
    if(arg_${name})
      string(TOLOWER "${name}" option)
      list(APPEND options --${option} "${arg_${name}}")
    endif()
  endforeach()
  if(arg_NOTIFICATION_CALLBACK)
    list(APPEND options --notification-callback)
  endif()
  foreach(template IN LISTS arg_TEMPLATES)
    string(REGEX MATCH "^([a-z]+)=(.+)$" template "${template}")
    set(file "${CMAKE_MATCH_2}")
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    list(APPEND options --template "${CMAKE_MATCH_1}=${file}")
  endforeach()

  file(MAKE_DIRECTORY "${arg_DESTINATION}")
  list(GET files 0 first)
  # An output that would say the same is left alone, so that nothing is compiled for it. Ninja
  # understands that; make would run the generator in each build.
  set(touch)
  if(CMAKE_GENERATOR MATCHES "Make")
    set(touch COMMAND "${CMAKE_COMMAND}" -E touch ${files})
  endif()
  set(native)
  if(TARGET meterbank_gen_native)
    set(native meterbank_gen_native)
  endif()
  cmake_path(GET arg_MANIFEST FILENAME manifest_name)
  add_custom_command(OUTPUT ${files}
    COMMAND meterbank::gen "${arg_MANIFEST}" ${options} --depfile "${first}.d" ${touch}
    DEPENDS "${arg_MANIFEST}" "$<TARGET_FILE:meterbank::gen>" ${native}
    DEPFILE "${first}.d"
    COMMENT "Generating code of ${manifest_name}"
    VERBATIM)
  # What needs these files alone waits for no library of the target.
  string(MD5 number "${files}")
  string(SUBSTRING "${number}" 0 8 number)
  add_custom_target(${arg_TARGET}_manifest_${number} DEPENDS ${files})

  set(scope PRIVATE)
  get_target_property(type ${arg_TARGET} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  elseif(arg_PUBLIC)
    set(scope PUBLIC)
  endif()
  target_sources(${arg_TARGET} PRIVATE ${files})
  target_include_directories(${arg_TARGET} ${scope} "$<BUILD_INTERFACE:${arg_DESTINATION}>")
endfunction()

# Makes sure that there is meterbank::gen.
function(meterbank_find_generator)
  if(TARGET meterbank::gen)
    return()
  endif()
  find_program(METERBANK_GENERATOR meterbank-gen)
  if(NOT METERBANK_GENERATOR)
    message(FATAL_ERROR "meterbank_generate: no meterbank-gen; set METERBANK_GENERATOR to one")
  endif()
  add_executable(meterbank::gen IMPORTED GLOBAL)
  set_target_properties(meterbank::gen PROPERTIES IMPORTED_LOCATION "${METERBANK_GENERATOR}")
endfunction()
