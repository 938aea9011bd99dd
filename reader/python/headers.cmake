# SPDX-License-Identifier: Apache-2.0
#
# METERBANK_PYTHON_HEADERS: the folder of Python.h, empty if there is none. The package is for the
# interpreter of the system, whatever other one stands first in PATH.
set(METERBANK_PYTHON_EXECUTABLE "/usr/bin/python3" CACHE FILEPATH
  "The interpreter that the Python package is built for and tested with")
set(METERBANK_PYTHON_HEADERS "")
execute_process(COMMAND "${METERBANK_PYTHON_EXECUTABLE}" -I -c
    "import sysconfig; print(sysconfig.get_paths()['include'], sysconfig.get_python_version(), sep=';')"
  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  list(GET found 0 folder)
  list(GET found 1 METERBANK_PYTHON_VERSION)
  if(EXISTS "${folder}/Python.h")
    set(METERBANK_PYTHON_HEADERS "${folder}")
  endif()
endif()
