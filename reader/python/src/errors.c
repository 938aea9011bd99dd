// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "binding.h"

static PyObject* error_type;

static const char error_doc[] =
    "Why a call of meterbank failed.\n\n"
    "code          the name of the status, for example 'NO_DIRECTORY'\n"
    "what          the object and the cause\n"
    "try_          what to try; may be empty\n"
    "system_error  errno, or 0";

int add_error(PyObject* module) {
  PyObject* const members = Py_BuildValue("{s:s,s:s,s:s,s:i}", "code", "UNKNOWN", "what", "",
                                          "try_", "", "system_error", 0);
  if (members == NULL) return -1;
  error_type = PyErr_NewExceptionWithDoc("meterbank.Error", error_doc, NULL, members);
  Py_DECREF(members);
  if (error_type == NULL) return -1;
  Py_INCREF(error_type);
  if (PyModule_AddObject(module, "Error", error_type) == 0) return 0;
  Py_DECREF(error_type);
  return -1;
}

static int set_member(PyObject* exception, const char* name, PyObject* value) {
  int result = -1;
  if (value != NULL) result = PyObject_SetAttrString(exception, name, value);
  Py_XDECREF(value);
  return result;
}

PyObject* raise_error(const mb_error* error) {
  PyObject* exception;
  PyObject* const what = text_of(error->what);
  PyObject* message = NULL;
  if (what == NULL) return NULL;
  if (error->remedy[0] == '\0') {
    Py_INCREF(what);
    message = what;
  } else {
    PyObject* const remedy = text_of(error->remedy);
    if (remedy != NULL) message = PyUnicode_FromFormat("%U; try: %U", what, remedy);
    Py_XDECREF(remedy);
  }
  Py_DECREF(what);
  if (message == NULL) return NULL;
  exception = PyObject_CallFunctionObjArgs(error_type, message, NULL);
  Py_DECREF(message);
  if (exception == NULL) return NULL;
  if (set_member(exception, "code", text_of(mb_status_text(error->status))) == 0 &&
      set_member(exception, "what", text_of(error->what)) == 0 &&
      set_member(exception, "try_", text_of(error->remedy)) == 0 &&
      set_member(exception, "system_error", PyLong_FromLong(error->system_error)) == 0) {
    PyErr_SetObject(error_type, exception);
  }
  Py_DECREF(exception);
  return NULL;
}

PyObject* raise_status(mb_status status, const char* try_, const char* format, ...) {
  mb_error error;
  va_list arguments;
  memset(&error, 0, sizeof error);
  error.status = status;
  va_start(arguments, format);
  vsnprintf(error.what, sizeof error.what, format, arguments);
  va_end(arguments);
  snprintf(error.remedy, sizeof error.remedy, "%s", try_);
  return raise_error(&error);
}

PyObject* raise_closed(const char* object) {
  return raise_status(MB_CLOSED, "", "the %s is closed", object);
}
