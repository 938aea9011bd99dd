// SPDX-License-Identifier: Apache-2.0
#include "read.h"

// ---- Row ----------------------------------------------------------------------------------------

enum {
  PROVIDER,
  PID,
  UID,
  SET,
  SET_SYMBOL,
  SET_LABEL,
  INSTANCE,
  INSTANCE_ID,
  ROW_STATUS,
  CONSISTENCY,
  ROW_CUT,
  TIME_NS,
  SKEW_NS,
  IS_TOTAL,
  IS_TRUSTED,
  NEEDS_PROVIDER,
  VALUES,
  ROW_MEMBERS
};

typedef struct RowObject {
  PyObject_HEAD PyObject* members[ROW_MEMBERS];
} RowObject;

static PyTypeObject* row_type;

static void row_dealloc(PyObject* self) {
  int at;
  for (at = 0; at < ROW_MEMBERS; ++at) Py_XDECREF(((RowObject*)self)->members[at]);
  free_object(self);
}
static PyObject* get_member(PyObject* self, void* which) {
  PyObject* const member = ((RowObject*)self)->members[(intptr_t)which];
  Py_INCREF(member);
  return member;
}
static PyObject* row_iter(PyObject* self) {
  return PyObject_GetIter(((RowObject*)self)->members[VALUES]);
}
static Py_ssize_t row_length(PyObject* self) {
  return PyTuple_Size(((RowObject*)self)->members[VALUES]);
}

// By position, or by symbol or name of the counter.
static PyObject* row_subscript(PyObject* self, PyObject* key) {
  PyObject* const values = ((RowObject*)self)->members[VALUES];
  enum { VALUE_NAME = 4, VALUE_SYMBOL = 5 };
  Py_ssize_t at;
  if (!PyUnicode_Check(key)) return PyObject_GetItem(values, key);
  for (at = 0; at < PyTuple_Size(values); ++at) {
    PyObject* const value = PyTuple_GetItem(values, at);
    if (PyUnicode_Compare(PyStructSequence_GetItem(value, VALUE_SYMBOL), key) == 0 ||
        PyUnicode_Compare(PyStructSequence_GetItem(value, VALUE_NAME), key) == 0) {
      Py_INCREF(value);
      return value;
    }
  }
  PyErr_SetObject(PyExc_KeyError, key);
  return NULL;
}
static PyObject* row_repr(PyObject* self) {
  PyObject* const* const members = ((RowObject*)self)->members;
  return PyUnicode_FromFormat("<meterbank.Row %R(%R) of %R, %U, %zd values>", members[SET],
                              members[INSTANCE], members[PROVIDER], members[ROW_STATUS],
                              row_length(self));
}

static int set_members(RowObject* self, const mb_row* row) {
  static const char* const consistencies[] = {"block", "independent", "shards", "shared"};
  static const char* const cuts_of_rows[] = {"per_block", "cut", "exact"};
  PyObject** const members = self->members;
  int at;
  members[PROVIDER] = text_of(row->provider);
  members[PID] = PyLong_FromUnsignedLong(row->pid);
  members[UID] = PyLong_FromUnsignedLong(row->uid);
  members[SET] = text_of(row->set);
  members[SET_SYMBOL] = text_of(row->set_symbol);
  members[SET_LABEL] = text_of(row->set_label);
  members[INSTANCE] = text_of(row->instance);
  members[INSTANCE_ID] = PyLong_FromUnsignedLong(row->instance_id);
  members[ROW_STATUS] = interned(mb_row_status_text(row->status));
  members[CONSISTENCY] = interned(consistencies[row->consistency & 3]);
  members[ROW_CUT] = interned(cuts_of_rows[row->cut % 3]);
  members[TIME_NS] = PyLong_FromUnsignedLongLong(row->time_ns);
  members[SKEW_NS] = PyLong_FromUnsignedLongLong(row->skew_ns);
  members[IS_TOTAL] = PyBool_FromLong(row->is_total);
  members[IS_TRUSTED] = PyBool_FromLong(row->is_trusted);
  members[NEEDS_PROVIDER] = PyBool_FromLong(row->needs_provider);
  for (at = 0; at < VALUES; ++at) {
    if (members[at] == NULL) return -1;
  }
  return 0;
}

// ---- The iterator -------------------------------------------------------------------------------

typedef struct RowIteratorObject {
  PyObject_HEAD ValuesObject* values;
  PyObject* quantiles;  // a tuple, or NULL
  mb_cursor* cursor;
} RowIteratorObject;

static PyTypeObject* row_iterator_type;

static mb_cursor* start_cursor(ValuesObject* values) {
  mb_cursor* cursor = NULL;
  mb_error error;
  mb_status status = mb_cursor_create(&cursor, &error);
  if (status == MB_OK) {
    mb_sample* const older = values->older == NULL ? NULL : values->older->handle;
    status = mb_cursor_start(cursor, values->newer->handle, older, &error);
  }
  if (status == MB_OK) return cursor;
  mb_cursor_close(cursor);
  raise_error(&error);
  return NULL;
}

PyObject* iterate_rows(ValuesObject* values, PyObject* quantiles) {
  RowIteratorObject* const self = (RowIteratorObject*)PyType_GenericAlloc(row_iterator_type, 0);
  Py_ssize_t at;
  if (self == NULL) return NULL;
  for (at = 0; quantiles != NULL && at < PyTuple_Size(quantiles); ++at) {
    double share = 0;
    if (!to_real(PyTuple_GetItem(quantiles, at), &share)) goto failed;
    if (share >= 0 && share <= 1) continue;
    PyErr_SetString(PyExc_ValueError, "a quantile must be a number from 0 to 1");
    goto failed;
  }
  Py_INCREF(values);
  self->values = values;
  Py_XINCREF(quantiles);
  self->quantiles = quantiles;
  if (!lock_values(values)) goto failed;
  self->cursor = start_cursor(values);
  unlock_values(values);
  if (self->cursor != NULL) return (PyObject*)self;
failed:
  Py_DECREF(self);
  return NULL;
}

static void row_iterator_dealloc(PyObject* object) {
  RowIteratorObject* const self = (RowIteratorObject*)object;
  PyObject_GC_UnTrack(object);
  mb_cursor_close(self->cursor);
  Py_XDECREF(self->values);
  Py_XDECREF(self->quantiles);
  free_object(object);
}
static int row_iterator_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((RowIteratorObject*)self)->values);
  Py_VISIT(((RowIteratorObject*)self)->quantiles);
  return 0;
}

static PyObject* read_values(RowIteratorObject* self, const RowObject* row) {
  const row_texts texts = {row->members[PROVIDER], row->members[SET], row->members[INSTANCE]};
  PyObject* const list = PyList_New(0);
  PyObject* values = NULL;
  mb_status status = MB_OK;
  mb_error error;
  if (list == NULL) return NULL;
  for (;;) {
    mb_value value = MB_VALUE_INIT;
    PyObject* each;
    int is_appended;
    status = mb_cursor_next_value(self->cursor, &value, &error);
    if (status != MB_OK) break;
    each = new_value(self->cursor, &value, &texts, self->quantiles);
    is_appended = each == NULL ? -1 : PyList_Append(list, each);
    Py_XDECREF(each);
    if (is_appended != 0) break;
  }
  if (status == MB_NOT_FOUND) {
    values = PyList_AsTuple(list);
  } else if (status != MB_OK) {
    raise_error(&error);
  }
  Py_DECREF(list);
  return values;
}

// NULL without an exception: the end. Precondition: the values are locked.
static PyObject* next_row(RowIteratorObject* self) {
  RowObject* made;
  mb_row row = MB_ROW_INIT;
  mb_error error;
  const mb_status status = mb_cursor_next_row(self->cursor, &row, &error);
  if (status == MB_NOT_FOUND) return NULL;
  if (status != MB_OK) return raise_error(&error);
  made = (RowObject*)PyType_GenericAlloc(row_type, 0);
  if (made == NULL) return NULL;
  if (set_members(made, &row) == 0) made->members[VALUES] = read_values(self, made);
  if (made->members[VALUES] == NULL) Py_CLEAR(made);
  return (PyObject*)made;
}

static PyObject* row_iterator_next(PyObject* object) {
  RowIteratorObject* const self = (RowIteratorObject*)object;
  PyObject* row;
  if (!lock_values(self->values)) return NULL;
  row = next_row(self);
  unlock_values(self->values);
  return row;
}

// ---- Names --------------------------------------------------------------------------------------

static int append(PyObject* list, PyObject* item) {
  const int result = item == NULL ? -1 : PyList_Append(list, item);
  Py_XDECREF(item);
  return result;
}

static int list_names(mb_cursor* cursor, PyObject* paths, PyObject* units) {
  mb_error error;
  mb_status status;
  while ((status = mb_cursor_next_row(cursor, NULL, &error)) == MB_OK) {
    mb_value value = MB_VALUE_INIT;
    while ((status = mb_cursor_next_value(cursor, &value, &error)) == MB_OK) {
      const char* path = NULL;
      status = mb_cursor_path(cursor, MB_PATH_SHORT, &path, &error);
      if (status != MB_OK) break;
      if (append(paths, text_of(path)) != 0 || append(units, interned(value.unit)) != 0) return -1;
    }
    if (status != MB_NOT_FOUND) break;
  }
  if (status == MB_NOT_FOUND) return 0;
  raise_error(&error);
  return -1;
}

static int keep_names(QueryObject* query, uint64_t layout, PyObject* paths, PyObject* units) {
  PyObject* const new_paths = PyList_AsTuple(paths);
  PyObject* const new_units = new_paths == NULL ? NULL : PyList_AsTuple(units);
  PyObject* const old_paths = query->paths;
  PyObject* const old_units = query->units;
  if (new_units == NULL) {
    Py_XDECREF(new_paths);
    return -1;
  }
  query->named_layout = layout;
  query->paths = new_paths;
  query->units = new_units;
  Py_XDECREF(old_paths);
  Py_XDECREF(old_units);
  return 0;
}

// Precondition: the values are locked and filled.
static int read_names(ValuesObject* values) {
  PyObject* const paths = PyList_New(0);
  PyObject* const units = PyList_New(0);
  mb_cursor* cursor = NULL;
  int result = -1;
  if (paths != NULL && units != NULL) cursor = start_cursor(values);
  if (cursor != NULL && list_names(cursor, paths, units) == 0) {
    result = keep_names(values->query, values->columns.layout, paths, units);
  }
  mb_cursor_close(cursor);
  Py_XDECREF(paths);
  Py_XDECREF(units);
  return result;
}

int name_values(ValuesObject* values) {
  const QueryObject* const query = values->query;
  int result = 0;
  if (values->columns.is_filled && query->paths != NULL &&
      query->named_layout == values->columns.layout) {
    return 0;
  }
  if (!lock_values(values)) return -1;
  if (fill_columns(values) != 0) {
    result = -1;
  } else if (query->paths == NULL || query->named_layout != values->columns.layout) {
    result = read_names(values);
  }
  unlock_values(values);
  return result;
}

// ---- The types ----------------------------------------------------------------------------------

static PyGetSetDef row_members[] = {
    {"provider", get_member, NULL, "'orders'", (void*)PROVIDER},
    {"pid", get_member, NULL, NULL, (void*)PID},
    {"uid", get_member, NULL, NULL, (void*)UID},
    {"set", get_member, NULL, "'Order Venues'", (void*)SET},
    {"set_symbol", get_member, NULL, "'venues'", (void*)SET_SYMBOL},
    {"set_label", get_member, NULL, "What one instance is called: 'venue'", (void*)SET_LABEL},
    {"instance", get_member, NULL, "'eu'; empty where instances have no names", (void*)INSTANCE},
    {"instance_id", get_member, NULL, NULL, (void*)INSTANCE_ID},
    {"status", get_member, NULL, "'fresh', 'checkpoint', 'busy', 'gone', 'closed', 'dead', ...",
     (void*)ROW_STATUS},
    {"consistency", get_member, NULL, "'block', 'independent', 'shards' or 'shared'",
     (void*)CONSISTENCY},
    {"cut", get_member, NULL, "'per_block', 'cut' or 'exact'", (void*)ROW_CUT},
    {"time_ns", get_member, NULL, "CLOCK_MONOTONIC: when the values were stored or collected",
     (void*)TIME_NS},
    {"skew_ns", get_member, NULL, "The first load was at most this long before the last",
     (void*)SKEW_NS},
    {"is_total", get_member, NULL, "Made by the reader of several instances", (void*)IS_TOTAL},
    {"is_trusted", get_member, NULL, NULL, (void*)IS_TRUSTED},
    {"needs_provider", get_member, NULL, "It would pass for a row of a trusted provider",
     (void*)NEEDS_PROVIDER},
    {"values", get_member, NULL, "A tuple of Value", (void*)VALUES},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot row_slots[] = {
    {Py_tp_doc,
     "One instance, or the total of several. It iterates over its values; row['accepted'] is one."},
    {Py_tp_new, SLOT(refuse_new)},
    {Py_tp_dealloc, SLOT(row_dealloc)},
    {Py_tp_iter, SLOT(row_iter)},
    {Py_tp_repr, SLOT(row_repr)},
    {Py_mp_length, SLOT(row_length)},
    {Py_mp_subscript, SLOT(row_subscript)},
    {Py_tp_getset, row_members},
    {0, NULL}};
static PyType_Spec row_spec = {"meterbank.Row", sizeof(RowObject), 0, Py_TPFLAGS_DEFAULT,
                               row_slots};

static PyType_Slot row_iterator_slots[] = {{Py_tp_doc, "The rows of a sample or a difference."},
                                           {Py_tp_new, SLOT(refuse_new)},
                                           {Py_tp_dealloc, SLOT(row_iterator_dealloc)},
                                           {Py_tp_traverse, SLOT(row_iterator_traverse)},
                                           {Py_tp_iter, SLOT(PyObject_SelfIter)},
                                           {Py_tp_iternext, SLOT(row_iterator_next)},
                                           {0, NULL}};
static PyType_Spec row_iterator_spec = {"meterbank._RowIterator", sizeof(RowIteratorObject), 0,
                                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                        row_iterator_slots};

int add_row_types(PyObject* module) {
  row_type = add_type(module, &row_spec);
  row_iterator_type = row_type == NULL ? NULL : add_type(module, &row_iterator_spec);
  return row_iterator_type == NULL ? -1 : 0;
}
