# SPDX-License-Identifier: Apache-2.0
#
# meterbank::gen for a cross build: a build of this tree for the machine that builds, inside of the
# one for the other machine.
include(ExternalProject)
set(native_folder "${PROJECT_BINARY_DIR}/native_generator")
set(native_program "${native_folder}/bin/meterbank-gen")
# What the environment says about compilers is usually meant for the other machine.
set(unset)
foreach(variable CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CMAKE_TOOLCHAIN_FILE)
  list(APPEND unset "--unset=${variable}")
endforeach()
ExternalProject_Add(meterbank_gen_native
  PREFIX "${native_folder}/steps"
  SOURCE_DIR "${PROJECT_SOURCE_DIR}"
  BINARY_DIR "${native_folder}"
  CONFIGURE_COMMAND "${CMAKE_COMMAND}" -E env ${unset} "${CMAKE_COMMAND}" -S <SOURCE_DIR>
    -B <BINARY_DIR> -G "${CMAKE_GENERATOR}" -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER} -DMETERBANK_GENERATOR_ONLY=ON
  BUILD_COMMAND "${CMAKE_COMMAND}" --build <BINARY_DIR> --target meterbank_gen
  # Its own rules know what has changed, and nothing if nothing has.
  BUILD_ALWAYS ON
  BUILD_BYPRODUCTS "${native_program}"
  INSTALL_COMMAND "")
add_executable(meterbank::gen IMPORTED GLOBAL)
set_target_properties(meterbank::gen PROPERTIES IMPORTED_LOCATION "${native_program}")
