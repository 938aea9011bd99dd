# SPDX-License-Identifier: Apache-2.0

# meterbank_compile_tests(NAME file [flag...])
# Tests NAME.gcc, NAME.g++ and so on: each compiler that is here takes the file, as C or as C++.
function(meterbank_compile_tests name file)
  foreach(compiler gcc g++ clang clang++)
    find_program(METERBANK_${compiler} ${compiler})
    if(NOT METERBANK_${compiler} OR NOT checks_sources)
      continue()
    endif()
    set(language c -std=c11)
    if(compiler MATCHES "\\+\\+")
      set(language c++ -std=c++20)
    endif()
    add_test(NAME ${name}.${compiler}
      COMMAND ${METERBANK_${compiler}} -x ${language} -fsyntax-only ${ARGN}
        "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
    set_tests_properties(${name}.${compiler} PROPERTIES LABELS unit)
  endforeach()
endfunction()
