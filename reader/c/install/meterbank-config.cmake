# SPDX-License-Identifier: Apache-2.0
#
# find_package(meterbank) makes these targets:
#   meterbank::c           libmeterbank.so, for C and every other language
#   meterbank::c_static    the same as an archive
#   meterbank::publisher   the C++ libraries, archives: publishing, reading,
#   meterbank::reader      hardware counters,
#   meterbank::pmu         and programs written for Windows
#   meterbank::perflib, meterbank::pdh, meterbank::pcw, meterbank::hal
# and the function meterbank_generate() for manifests, which needs the program meterbank-gen.
# The C++ libraries need the package libexpected-dev (tl-expected); the first two need nothing.
include(CMakeFindDependencyMacro)
find_package(Threads QUIET)
find_package(tl-expected QUIET)
if(NOT TARGET Threads::Threads)
  add_library(Threads::Threads INTERFACE IMPORTED)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/meterbank-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/MeterbankGenerate.cmake")
