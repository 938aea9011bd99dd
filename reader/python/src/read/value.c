// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "read.h"

static PyTypeObject* value_type;
static PyTypeObject* distribution_type;

PyObject* real_or_none(double value) {
  if (isnan(value)) Py_RETURN_NONE;
  return PyFloat_FromDouble(value);
}

static PyObject* none(void) { Py_RETURN_NONE; }

// What is stored, as its form has it.
static PyObject* raw_of(uint32_t form, uint64_t bits) {
  double real = 0;
  if (form == MB_FORM_SIGNED) return PyLong_FromLongLong((int64_t)bits);
  if (form != MB_FORM_REAL) return PyLong_FromUnsignedLongLong(bits);
  memcpy(&real, &bits, sizeof real);
  return PyFloat_FromDouble(real);
}

static PyObject* type_of(uint32_t type) {
  const char* const name = name_in(counter_types, type);
  return name != NULL ? interned(name) : PyUnicode_FromFormat("%x", (unsigned)type);
}

static PyObject* buckets_of(const mb_distribution* distribution) {
  PyObject* const buckets = PyTuple_New((Py_ssize_t)distribution->bucket_count);
  uint32_t at;
  if (buckets == NULL) return NULL;
  for (at = 0; at < distribution->bucket_count; ++at) {
    PyObject* const count = PyLong_FromUnsignedLongLong(distribution->buckets[at]);
    if (count == NULL || PyTuple_SetItem(buckets, (Py_ssize_t)at, count) != 0) {
      Py_DECREF(buckets);
      return NULL;
    }
  }
  return buckets;
}

static PyObject* distribution_of(mb_cursor* cursor) {
  mb_distribution distribution = MB_DISTRIBUTION_INIT;
  mb_error error;
  tuple_writer tuple;
  const mb_status status = mb_cursor_distribution(cursor, &distribution, &error);
  if (status == MB_NOT_FOUND) return none();
  if (status != MB_OK) return raise_error(&error);
  tuple = begin_tuple(distribution_type);
  put(&tuple, PyLong_FromUnsignedLongLong(distribution.count));
  put(&tuple, PyFloat_FromDouble(distribution.sum));
  put(&tuple, real_or_none(distribution.least));
  put(&tuple, real_or_none(distribution.most));
  put(&tuple, PyLong_FromUnsignedLongLong(distribution.below));
  put(&tuple, PyLong_FromUnsignedLongLong(distribution.above));
  put(&tuple, PyLong_FromUnsignedLongLong(distribution.refused));
  put(&tuple, PyLong_FromLong(distribution.scale));
  put(&tuple, PyLong_FromLong(distribution.first));
  put(&tuple, buckets_of(&distribution));
  return end_tuple(&tuple);
}

// A tuple beside `quantiles`; None if the value is not a distribution.
static PyObject* quantiles_of(mb_cursor* cursor, uint32_t form, PyObject* quantiles) {
  const Py_ssize_t count = quantiles == NULL ? 0 : PyTuple_Size(quantiles);
  PyObject* made;
  Py_ssize_t at;
  if (form != MB_FORM_DISTRIBUTION) return none();
  made = PyTuple_New(count);
  for (at = 0; made != NULL && at < count; ++at) {
    const double share = PyFloat_AsDouble(PyTuple_GetItem(quantiles, at));
    double value = 0;
    mb_error error;
    const mb_status status = mb_cursor_quantile(cursor, share, &value, NULL, &error);
    PyObject* item = NULL;
    if (status == MB_NOT_FOUND) {
      item = none();
    } else if (status != MB_OK) {
      raise_error(&error);
    } else {
      item = real_or_none(value);
    }
    if (item == NULL || PyTuple_SetItem(made, at, item) != 0) Py_CLEAR(made);
  }
  return made;
}

static PyObject* path_of(mb_cursor* cursor) {
  const char* path = NULL;
  mb_error error;
  if (mb_cursor_path(cursor, MB_PATH_SHORT, &path, &error) != MB_OK) return raise_error(&error);
  return text_of(path);
}

static PyObject* same(PyObject* object) {
  Py_INCREF(object);
  return object;
}

PyObject* new_value(mb_cursor* cursor, const mb_value* value, const row_texts* row,
                    PyObject* quantiles) {
  tuple_writer tuple = begin_tuple(value_type);
  put(&tuple, path_of(cursor));
  put(&tuple, same(row->provider));
  put(&tuple, same(row->set));
  put(&tuple, same(row->instance));
  put(&tuple, text_of(value->name));
  put(&tuple, text_of(value->symbol));
  put(&tuple, text_of(value->unit));
  put(&tuple, text_of(value->help));
  put(&tuple, raw_of(value->form, value->raw));
  put(&tuple, mb_has_value(value->status) ? PyFloat_FromDouble(value->cooked) : none());
  put(&tuple, interned(mb_value_status_text(value->status)));
  put(&tuple, type_of(value->type));
  put(&tuple, interned(name_in(value_forms, value->form % 5)));
  put(&tuple, PyLong_FromUnsignedLongLong(value->base));
  put(&tuple, PyLong_FromLong(value->scale));
  put(&tuple, PyLong_FromUnsignedLong(value->id));
  put(&tuple, PyLong_FromUnsignedLongLong(value->set_ns));
  put(&tuple, value->text == NULL ? none() : text_of_bytes(value->text, value->text_length));
  put(&tuple, value->form == MB_FORM_DISTRIBUTION ? distribution_of(cursor) : none());
  put(&tuple, quantiles_of(cursor, value->form, quantiles));
  return end_tuple(&tuple);
}

static PyStructSequence_Field value_fields[] = {
    {"path", "'venues/eu/accepted'"},
    {"provider", "'orders'"},
    {"set", "'Order Venues'"},
    {"instance", "'eu'; empty where instances have no names"},
    {"counter", "'Accepted/sec'"},
    {"symbol", "'accepted'"},
    {"unit", "a UCUM code"},
    {"help", NULL},
    {"raw", "what is stored; of a distribution its count"},
    {"cooked", "a number for people; None if the status says that there is none"},
    {"status", "one of meterbank.VALUE_STATUSES"},
    {"type", "'bulk_count' and so on"},
    {"form", "'unsigned', 'signed', 'real', 'text' or 'distribution'"},
    {"base", "of a share or an average"},
    {"scale", "show the value times 10 to this power"},
    {"id", "of the counter"},
    {"set_ns", "when a timed value was set; 0: never"},
    {"text", "of a text; else None"},
    {"distribution", "a Distribution or None"},
    {"quantiles", "a tuple beside those that rows() was asked for; None: not a distribution"},
    {NULL, NULL}};
static PyStructSequence_Desc value_description = {"meterbank.Value", "One counter of one row.",
                                                  value_fields, 20};
static PyStructSequence_Field distribution_fields[] = {
    {"count", "values that were recorded"},
    {"sum", NULL},
    {"least", "None: not known"},
    {"most", "None: not known"},
    {"below", "values up to the lower end of the first bucket"},
    {"above", "values beyond the upper end of the last"},
    {"refused", "NaN; not in the count"},
    {"scale", NULL},
    {"first", NULL},
    {"buckets", "bucket i: base**(first + i) < v <= base**(first + i + 1), base = 2**(2**-scale)"},
    {NULL, NULL}};
static PyStructSequence_Desc distribution_description = {
    "meterbank.Distribution", "What was recorded between two samples, or since the beginning.",
    distribution_fields, 10};

// meterbank.VALUE_STATUSES: the names of the numbers in Sample.statuses.
static int add_statuses(PyObject* module) {
  PyObject* const statuses = PyTuple_New(MB_VALUE_NO_VALUE + 1);
  uint32_t status;
  if (statuses == NULL) return -1;
  for (status = 0; status <= MB_VALUE_NO_VALUE; ++status) {
    PyObject* const text = interned(mb_value_status_text(status));
    if (text == NULL || PyTuple_SetItem(statuses, (Py_ssize_t)status, text) != 0) {
      Py_DECREF(statuses);
      return -1;
    }
  }
  if (PyModule_AddObject(module, "VALUE_STATUSES", statuses) == 0) return 0;
  Py_DECREF(statuses);
  return -1;
}

int add_value_types(PyObject* module) {
  value_type = add_named_tuple(module, &value_description);
  if (value_type == NULL) return -1;
  distribution_type = add_named_tuple(module, &distribution_description);
  return distribution_type == NULL ? -1 : add_statuses(module);
}
