// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

published_set* new_set(const description* read) {
  published_set* const set = PyMem_Calloc(1, sizeof *set);
  size_t at;
  if (set == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  set->references = 1;
  set->is_sharded = (read->set.flags & MB_SET_SHARDED) != 0;
  set->is_stamped = (read->set.flags & MB_SET_STAMPED) != 0;
  set->count = read->set.counters_count;
  set->name = text_of(read->set.name);
  Py_INCREF(read->positions);
  set->positions = read->positions;
  set->counters = PyMem_Calloc(set->count + 1, sizeof *set->counters);
  if (set->counters == NULL) PyErr_NoMemory();
  if (set->counters == NULL || set->name == NULL) {
    release_set(set);
    return NULL;
  }
  for (at = 0; at < set->count; ++at) {
    set->counters[at].id = read->counters[at].id;
    set->counters[at].form = (uint8_t)read->counters[at].form;
    set->counters[at].is_timed = (read->counters[at].flags & MB_COUNTER_TIMED) != 0;
  }
  return set;
}

void release_set(published_set* set) {
  if (--set->references != 0) return;
  Py_CLEAR(set->name);
  Py_CLEAR(set->positions);
  PyMem_Free(set->counters);
  PyMem_Free(set);
}

void close_set(published_set* set) {
  mb_set* const handle = set->handle;
  callback_context* const context = set->context;
  if (!set->is_open) return;
  set->is_open = false;
  set->handle = NULL;
  set->context = NULL;
  Py_BEGIN_ALLOW_THREADS mb_set_close(handle);
  Py_END_ALLOW_THREADS if (context == NULL) return;
  clear_context(context);
  // A callback that closes its own set returns to the library, which may then use the context.
  if (!is_in_callback()) free_context(context);
}

static void refuse_counter(const published_set* set, PyObject* counter) {
  PyObject* const names = PyDict_Keys(set->positions);
  PyObject* const message =
      names == NULL ? NULL : PyUnicode_FromFormat("set %R has no counter %R", set->name, counter);
  PyObject* const what = message == NULL ? NULL : PyUnicode_AsUTF8String(message);
  PyObject* const joiner = what == NULL ? NULL : PyUnicode_FromString(", ");
  PyObject* const list = joiner == NULL ? NULL : PyUnicode_Join(joiner, names);
  PyObject* const try_ = list == NULL ? NULL : PyUnicode_AsUTF8String(list);
  if (try_ != NULL) {
    raise_status(MB_NOT_FOUND, PyBytes_AsString(try_), "%s", PyBytes_AsString(what));
  } else if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
    PyErr_Clear();
    raise_status(MB_NOT_FOUND, "", "the set has no counter of this name");
  }
  Py_XDECREF(names);
  Py_XDECREF(message);
  Py_XDECREF(what);
  Py_XDECREF(joiner);
  Py_XDECREF(list);
  Py_XDECREF(try_);
}

Py_ssize_t position_of(const published_set* set, PyObject* counter) {
  if (PyUnicode_Check(counter)) {
    PyObject* const found = PyDict_GetItemWithError(set->positions, counter);
    if (found != NULL) return PyLong_AsSsize_t(found);
  } else if (PyIndex_Check(counter)) {
    const Py_ssize_t position = PyNumber_AsSsize_t(counter, NULL);
    if (position >= 0 && (size_t)position < set->count) return position;
  } else {
    PyErr_Format(PyExc_TypeError, "a counter is named by a str or an int, not %R",
                 (PyObject*)Py_TYPE(counter));
  }
  if (PyErr_Occurred() == NULL) refuse_counter(set, counter);
  return -1;
}
