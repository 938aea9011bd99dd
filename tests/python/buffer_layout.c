// SPDX-License-Identifier: Apache-2.0
//
// Compiled with all of Python's header: our declaration of the buffer protocol is the same.
#include <Python.h>
#include <stddef.h>

#include "../../reader/python/src/read/buffer.h"

#define SAME(member)                                                                            \
  _Static_assert(offsetof(struct py_buffer, member) == offsetof(Py_buffer, member) &&           \
                     sizeof(((struct py_buffer*)0)->member) == sizeof(((Py_buffer*)0)->member), \
                 #member)
SAME(buf);
SAME(obj);
SAME(len);
SAME(itemsize);
SAME(readonly);
SAME(ndim);
SAME(format);
SAME(shape);
SAME(strides);
SAME(suboffsets);
SAME(internal);
_Static_assert(sizeof(struct py_buffer) == sizeof(Py_buffer), "size");
_Static_assert(SLOT_GETBUFFER == Py_bf_getbuffer, "slot");
_Static_assert(SLOT_RELEASEBUFFER == Py_bf_releasebuffer, "slot");
_Static_assert(BUFFER_WRITABLE == PyBUF_WRITABLE, "flag");
_Static_assert(BUFFER_FORMAT == PyBUF_FORMAT, "flag");
_Static_assert(BUFFER_ND == PyBUF_ND, "flag");
_Static_assert(BUFFER_STRIDES == PyBUF_STRIDES, "flag");
