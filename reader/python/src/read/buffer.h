// SPDX-License-Identifier: Apache-2.0
//
// Python's buffer protocol, which is part of the stable ABI since 3.11. Versions 3.9 and 3.10 have
// it under the same numbers and with the same struct, but their headers hide it from extensions of
// the stable ABI. So it is declared here. tests/python/buffer_layout.c compares this with the
// header of the interpreter.
#ifndef METERBANK_PYTHON_BUFFER_H
#define METERBANK_PYTHON_BUFFER_H

#include <Python.h>

struct py_buffer {
  void* buf;
  PyObject* obj;  // owned
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};

enum {
  SLOT_GETBUFFER = 1,
  SLOT_RELEASEBUFFER = 2,
  BUFFER_WRITABLE = 0x0001,
  BUFFER_FORMAT = 0x0004,
  BUFFER_ND = 0x0008,
  BUFFER_STRIDES = 0x0010 | BUFFER_ND
};

#endif
