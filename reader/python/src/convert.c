// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "binding.h"

// ---- Numbers ------------------------------------------------------------------------------------

// A new reference to an int; numbers of other packages have __index__, floats do not.
static PyObject* integer_of(PyObject* object) {
  if (PyLong_Check(object)) {
    Py_INCREF(object);
    return object;
  }
  return PyNumber_Index(object);
}

int to_uint64(PyObject* object, void* target) {
  PyObject* const integer = integer_of(object);
  unsigned long long value;
  if (integer == NULL) return 0;
  value = PyLong_AsUnsignedLongLong(integer);
  Py_DECREF(integer);
  if (value == (unsigned long long)-1 && PyErr_Occurred() != NULL) return 0;
  *(uint64_t*)target = value;
  return 1;
}

int to_uint32(PyObject* object, void* target) {
  uint64_t value;
  if (!to_uint64(object, &value)) return 0;
  if (value > UINT32_MAX) {
    PyErr_SetString(PyExc_OverflowError, "int too big for 32 bits");
    return 0;
  }
  *(uint32_t*)target = (uint32_t)value;
  return 1;
}

int to_int64(PyObject* object, int64_t* value) {
  PyObject* const integer = integer_of(object);
  long long converted;
  if (integer == NULL) return 0;
  converted = PyLong_AsLongLong(integer);
  Py_DECREF(integer);
  if (converted == -1 && PyErr_Occurred() != NULL) return 0;
  *value = converted;
  return 1;
}

int to_bits(PyObject* object, uint64_t* bits) {
  int64_t value;
  if (to_uint64(object, bits)) return 1;
  if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return 0;
  PyErr_Clear();
  if (!to_int64(object, &value)) return 0;
  *bits = (uint64_t)value;
  return 1;
}

int to_real(PyObject* object, double* real) {
  *real = PyFloat_AsDouble(object);
  return *real != -1 || PyErr_Occurred() == NULL;
}

// ---- Texts --------------------------------------------------------------------------------------

PyObject* text_of_bytes(const char* text, size_t bytes) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, "replace");
}
PyObject* text_of(const char* text) {
  if (text == NULL) text = "";
  return text_of_bytes(text, strlen(text));
}
int to_path(PyObject* object, void* target) {
  if (object == Py_None) return 1;
  return PyUnicode_FSConverter(object, target);
}
PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

void free_text_list(text_list* list) {
  PyMem_Free((void*)(uintptr_t)list->texts);
  Py_CLEAR(list->kept);
  list->texts = NULL;
  list->count = 0;
}

// The bytes of a text, which have no NUL inside. They stay in `kept`.
static const char* keep_text(PyObject* kept, PyObject* text, const char* what) {
  PyObject* bytes;
  char* data = NULL;
  if (!PyUnicode_Check(text)) {
    PyErr_Format(PyExc_TypeError, "%s must be str, not %R", what, (PyObject*)Py_TYPE(text));
    return NULL;
  }
  bytes = PyUnicode_AsUTF8String(text);
  if (bytes == NULL) return NULL;
  if (PyBytes_AsStringAndSize(bytes, &data, NULL) != 0 || PyList_Append(kept, bytes) != 0) {
    data = NULL;
  }
  Py_DECREF(bytes);
  return data;
}

int to_text_list(PyObject* object, const char* what, text_list* list) {
  PyObject* sequence;
  Py_ssize_t count, at;
  list->texts = NULL;
  list->count = 0;
  list->kept = PyList_New(0);
  if (list->kept == NULL) return -1;
  sequence = PyUnicode_Check(object) ? Py_BuildValue("(O)", object) : PySequence_Tuple(object);
  if (sequence == NULL) goto failed;
  count = PyTuple_Size(sequence);
  list->texts = PyMem_Calloc((size_t)count + 1, sizeof *list->texts);
  if (list->texts == NULL) PyErr_NoMemory();
  for (at = 0; list->texts != NULL && at < count; ++at) {
    list->texts[at] = keep_text(list->kept, PyTuple_GetItem(sequence, at), what);
    if (list->texts[at] == NULL) break;
    ++list->count;
  }
  Py_DECREF(sequence);
  if (list->texts != NULL && list->count == (size_t)count) return 0;
failed:
  free_text_list(list);
  return -1;
}

// ---- Words --------------------------------------------------------------------------------------

const word counter_types[] = {{"raw_count_hex", MB_TYPE_RAW_COUNT_HEX},
                              {"large_raw_count_hex", MB_TYPE_LARGE_RAW_COUNT_HEX},
                              {"raw_count", MB_TYPE_RAW_COUNT},
                              {"large_raw_count", MB_TYPE_LARGE_RAW_COUNT},
                              {"delta", MB_TYPE_DELTA},
                              {"large_delta", MB_TYPE_LARGE_DELTA},
                              {"counter", MB_TYPE_COUNTER},
                              {"bulk_count", MB_TYPE_BULK_COUNT},
                              {"sample_counter", MB_TYPE_SAMPLE_COUNTER},
                              {"queue_length", MB_TYPE_QUEUE_LENGTH},
                              {"large_queue_length", MB_TYPE_LARGE_QUEUE_LENGTH},
                              {"queue_length_100ns", MB_TYPE_QUEUE_LENGTH_100NS},
                              {"queue_length_object", MB_TYPE_QUEUE_LENGTH_OBJECT},
                              {"timer", MB_TYPE_TIMER},
                              {"timer_inverse", MB_TYPE_TIMER_INVERSE},
                              {"timer_100ns", MB_TYPE_TIMER_100NS},
                              {"timer_100ns_inverse", MB_TYPE_TIMER_100NS_INVERSE},
                              {"timer_object", MB_TYPE_TIMER_OBJECT},
                              {"precision_system_timer", MB_TYPE_PRECISION_SYSTEM_TIMER},
                              {"precision_100ns_timer", MB_TYPE_PRECISION_100NS_TIMER},
                              {"precision_object_timer", MB_TYPE_PRECISION_OBJECT_TIMER},
                              {"multi_timer", MB_TYPE_MULTI_TIMER},
                              {"multi_timer_inverse", MB_TYPE_MULTI_TIMER_INVERSE},
                              {"multi_timer_100ns", MB_TYPE_MULTI_TIMER_100NS},
                              {"multi_timer_100ns_inverse", MB_TYPE_MULTI_TIMER_100NS_INVERSE},
                              {"sample_fraction", MB_TYPE_SAMPLE_FRACTION},
                              {"raw_fraction", MB_TYPE_RAW_FRACTION},
                              {"large_raw_fraction", MB_TYPE_LARGE_RAW_FRACTION},
                              {"average_timer", MB_TYPE_AVERAGE_TIMER},
                              {"average_bulk", MB_TYPE_AVERAGE_BULK},
                              {"elapsed_time", MB_TYPE_ELAPSED_TIME},
                              {"no_data", MB_TYPE_NO_DATA},
                              {"text", MB_TYPE_TEXT},
                              {"composite", MB_TYPE_COMPOSITE},
                              {"sample_base", MB_TYPE_SAMPLE_BASE},
                              {"average_base", MB_TYPE_AVERAGE_BASE},
                              {"raw_base", MB_TYPE_RAW_BASE},
                              {"large_raw_base", MB_TYPE_LARGE_RAW_BASE},
                              {"multi_base", MB_TYPE_MULTI_BASE},
                              {NULL, 0}};
const word value_forms[] = {{"unsigned", MB_FORM_UNSIGNED},
                            {"signed", MB_FORM_SIGNED},
                            {"real", MB_FORM_REAL},
                            {"text", MB_FORM_TEXT},
                            {"distribution", MB_FORM_DISTRIBUTION},
                            {NULL, 0}};
const word aggregates[] = {{"undefined", MB_AGGREGATE_UNDEFINED}, {"sum", MB_AGGREGATE_SUM},
                           {"average", MB_AGGREGATE_AVERAGE},     {"minimum", MB_AGGREGATE_MINIMUM},
                           {"maximum", MB_AGGREGATE_MAXIMUM},     {NULL, 0}};
const word instance_kinds[] = {{"single", MB_INSTANCES_SINGLE},
                               {"multiple", MB_INSTANCES_MULTIPLE},
                               {"global_aggregate", MB_INSTANCES_GLOBAL_AGGREGATE},
                               {"multiple_aggregate", MB_INSTANCES_MULTIPLE_AGGREGATE},
                               {"global_aggregate_history", MB_INSTANCES_GLOBAL_AGGREGATE_HISTORY},
                               {NULL, 0}};
const word user_policies[] = {{"own", MB_USERS_OWN},
                              {"own_and_root", MB_USERS_OWN_AND_ROOT},
                              {"everyone", MB_USERS_EVERYONE},
                              {NULL, 0}};
const word cuts[] = {
    {"none", MB_CUT_NONE}, {"try", MB_CUT_TRY}, {"epoch", MB_CUT_EPOCH}, {NULL, 0}};

static PyObject* list_of_names(const word* words) {
  PyObject* names = PyUnicode_FromString("");
  const word* each;
  for (each = words; each->name != NULL && names != NULL; ++each) {
    PyObject* const longer =
        PyUnicode_FromFormat("%U%s'%s'", names, each == words ? "" : ", ", each->name);
    Py_DECREF(names);
    names = longer;
  }
  return names;
}

int to_word(PyObject* object, const word* words, const char* what, uint32_t* value) {
  PyObject* names;
  const word* each;
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be str, not %R", what, (PyObject*)Py_TYPE(object));
    return 0;
  }
  for (each = words; each->name != NULL; ++each) {
    if (PyUnicode_CompareWithASCIIString(object, each->name) != 0) continue;
    *value = each->value;
    return 1;
  }
  names = list_of_names(words);
  if (names == NULL) return 0;
  PyErr_Format(PyExc_ValueError, "%s must be one of %U, not %R", what, names, object);
  Py_DECREF(names);
  return 0;
}

const char* name_in(const word* words, uint32_t value) {
  for (; words->name != NULL; ++words) {
    if (words->value == value) return words->name;
  }
  return NULL;
}
