// SPDX-License-Identifier: Apache-2.0
//
// The module meterbank._meterbank.
#include <string.h>

#include "binding.h"
#include "publish/publish.h"

PyTypeObject* add_type(PyObject* module, PyType_Spec* spec) {
  PyObject* const type = PyType_FromSpec(spec);
  const char* const dot = strrchr(spec->name, '.');
  if (type == NULL) return NULL;
  Py_INCREF(type);  // one for the module, one for the extension
  if (PyModule_AddObject(module, dot + 1, type) == 0) return (PyTypeObject*)type;
  Py_DECREF(type);
  Py_DECREF(type);
  return NULL;
}

PyTypeObject* add_named_tuple(PyObject* module, PyStructSequence_Desc* named) {
  PyObject* const type = (PyObject*)PyStructSequence_NewType(named);
  const char* const dot = strrchr(named->name, '.');
  if (type == NULL) return NULL;
  Py_INCREF(type);
  if (PyModule_AddObject(module, dot + 1, type) == 0) return (PyTypeObject*)type;
  Py_DECREF(type);
  Py_DECREF(type);
  return NULL;
}

PyObject* refuse_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  (void)arguments;
  (void)keywords;
  PyErr_Format(PyExc_TypeError, "%R objects are made by methods of others", (PyObject*)type);
  return NULL;
}

void free_object(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  const freefunc free_it = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
  free_it(self);
  Py_DECREF(type);
}

PyObject* return_self(PyObject* self, PyObject* unused) {
  (void)unused;
  Py_INCREF(self);
  return self;
}

static PyObject* version(PyObject* module, PyObject* unused) {
  const uint32_t number = mb_version();
  (void)module;
  (void)unused;
  return PyUnicode_FromFormat("%d.%d.%d", (int)(number >> 16), (int)(number >> 8 & 0xff),
                              (int)(number & 0xff));
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "The version of libmeterbank, for example '0.2.0'."},
    {"_end", end_publishing, METH_NOARGS,
     "Closes all providers. The interpreter calls it at exit."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_meterbank",
                                        "The extension behind the package meterbank.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

// Callbacks run on threads of the library. They must have ended before the interpreter does.
static int register_end(PyObject* module) {
  PyObject* const atexit = PyImport_ImportModule("atexit");
  PyObject* const end = atexit == NULL ? NULL : PyObject_GetAttrString(module, "_end");
  PyObject* const result = end == NULL ? NULL : PyObject_CallMethod(atexit, "register", "O", end);
  Py_XDECREF(end);
  Py_XDECREF(atexit);
  Py_XDECREF(result);
  return result == NULL ? -1 : 0;
}

PyMODINIT_FUNC PyInit__meterbank(void);

PyMODINIT_FUNC PyInit__meterbank(void) {
  PyObject* const module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  if (prepare_turns() == 0 && add_error(module) == 0 && add_types_of_publishing(module) == 0 &&
      add_types_of_reading(module) == 0 && register_end(module) == 0) {
    return module;
  }
  Py_DECREF(module);
  return NULL;
}
