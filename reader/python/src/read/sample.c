// SPDX-License-Identifier: Apache-2.0
//
// Sample, and Difference: two samples that are compared.
#include "buffer.h"
#include "read.h"

PyTypeObject* sample_type;
PyTypeObject* difference_type;
static PyTypeObject* answer_type;

// ---- Both ---------------------------------------------------------------------------------------

static bool is_as_compared(const ValuesObject* values) {
  if (values->newer->handle == NULL || (values->older != NULL && values->older->handle == NULL)) {
    raise_closed("sample");
    return false;
  }
  if (values->newer->collections == values->newer_collections &&
      (values->older == NULL || values->older->collections == values->older_collections)) {
    return true;
  }
  raise_status(MB_CLOSED, "compare the samples again", "a sample was collected again");
  return false;
}

bool lock_values(ValuesObject* values) {
  SampleObject* first = values->newer;
  SampleObject* second = values->older;
  if (second != NULL && (uintptr_t)second < (uintptr_t)first) {
    first = values->older;
    second = values->newer;
  }
  if (!take_turn(&first->used)) return false;
  if (second != NULL && !take_turn(&second->used)) {
    end_turn(&first->used);
    return false;
  }
  if (is_as_compared(values)) return true;
  unlock_values(values);
  return false;
}
void unlock_values(ValuesObject* values) {
  end_turn(&values->newer->used);
  if (values->older != NULL) end_turn(&values->older->used);
}

static PyObject* values_iter(PyObject* self) { return iterate_rows((ValuesObject*)self, NULL); }

static PyObject* values_rows(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"quantiles", NULL};
  PyObject* shares = NULL;
  PyObject* quantiles = NULL;
  PyObject* rows;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$O:rows", names, &shares)) return NULL;
  if (shares != NULL && (quantiles = PySequence_Tuple(shares)) == NULL) return NULL;
  rows = iterate_rows((ValuesObject*)self, quantiles);
  Py_XDECREF(quantiles);
  return rows;
}

enum { PATHS, UNITS };

static PyObject* get_names(PyObject* self, void* which) {
  ValuesObject* const values = (ValuesObject*)self;
  PyObject* names;
  if (name_values(values) != 0) return NULL;
  names = (intptr_t)which == PATHS ? values->query->paths : values->query->units;
  Py_INCREF(names);
  return names;
}
static PyObject* get_column(PyObject* self, void* which) {
  return new_column((ValuesObject*)self, (int)(intptr_t)which);
}

#define MEMBERS_OF_VALUES                                                                   \
  {"cooked", get_column, NULL, "Numbers for people, float64; NaN where there is none",      \
   (void*)COOKED},                                                                          \
      {"raw", get_column, NULL, "What is stored, uint64", (void*)RAW},                      \
      {"statuses", get_column, NULL, "uint8: positions in meterbank.VALUE_STATUSES",        \
       (void*)STATUS},                                                                      \
      {"paths", get_names, NULL, "The path of each value: a tuple of str", (void*)PATHS}, { \
    "units", get_names, NULL, "The unit of each value: a tuple of str", (void*)UNITS        \
  }
#define METHODS_OF_VALUES                                                                          \
  {                                                                                                \
    "rows", KEYWORDS(values_rows), METH_VARARGS | METH_KEYWORDS,                                   \
        "rows(*, quantiles=()) -> iterator of Row\n\n`quantiles`: shares, for example 0.99, that " \
        "distributions are asked for."                                                             \
  }

// ---- Sample -------------------------------------------------------------------------------------

PyObject* new_sample(QueryObject* query) {
  SampleObject* const self = (SampleObject*)PyType_GenericAlloc(sample_type, 0);
  mb_error error;
  if (self == NULL) return NULL;
  Py_INCREF(query);
  self->values.query = query;
  self->values.newer = self;
  if (mb_sample_create(&self->handle, &error) == MB_OK) return (PyObject*)self;
  Py_DECREF(self);
  return raise_error(&error);
}

static void sample_dealloc(PyObject* object) {
  SampleObject* const self = (SampleObject*)object;
  PyObject_GC_UnTrack(object);
  mb_sample_close(self->handle);
  free_columns(&self->values.columns);
  Py_XDECREF(self->values.query);
  free_object(object);
}
static int sample_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((ValuesObject*)self)->query);
  return 0;
}

static PyObject* sample_close(PyObject* object, PyObject* unused) {
  SampleObject* const self = (SampleObject*)object;
  mb_sample* const handle = self->handle;
  (void)unused;
  if (self->values.columns.exports != 0) {
    PyErr_SetString(PyExc_BufferError, "the values of the sample are still in use");
    return NULL;
  }
  self->handle = NULL;
  mb_sample_close(handle);
  Py_RETURN_NONE;
}
static PyObject* sample_exit(PyObject* self, PyObject* arguments) {
  return sample_close(self, arguments);
}

static PyObject* sample_since(PyObject* self, PyObject* object) {
  SampleObject* const newer = (SampleObject*)self;
  ValuesObject* made;
  int is_filled = -1;
  if (Py_TYPE(object) != sample_type || object == self) {
    PyErr_Format(PyExc_TypeError, "since() takes another Sample, not %R",
                 object == self ? self : (PyObject*)Py_TYPE(object));
    return NULL;
  }
  made = (ValuesObject*)PyType_GenericAlloc(difference_type, 0);
  if (made == NULL) return NULL;
  Py_INCREF(newer->values.query);
  made->query = newer->values.query;
  Py_INCREF(self);
  made->newer = newer;
  Py_INCREF(object);
  made->older = (SampleObject*)object;
  made->newer_collections = newer->collections;
  made->older_collections = made->older->collections;
  if (lock_values(made)) {
    is_filled = fill_columns(made);
    unlock_values(made);
  }
  if (is_filled == 0) return (PyObject*)made;
  Py_DECREF(made);
  return NULL;
}

static PyObject* get_answers(PyObject* object, void* unused) {
  SampleObject* const self = (SampleObject*)object;
  PyObject* list = NULL;
  mb_status status = MB_OK;
  mb_error error;
  size_t index;
  (void)unused;
  if (!lock_values(&self->values)) return NULL;
  list = PyList_New(0);
  for (index = 0; list != NULL; ++index) {
    mb_answer answer = MB_ANSWER_INIT;
    tuple_writer tuple;
    PyObject* each;
    status = mb_sample_answer(self->handle, index, &answer, &error);
    if (status != MB_OK) break;
    tuple = begin_tuple(answer_type);
    put(&tuple, text_of(answer.provider));
    put(&tuple, text_of(answer.set));
    put(&tuple, PyBool_FromLong(answer.has_rows));
    put(&tuple, PyLong_FromUnsignedLongLong(answer.rows));
    put(&tuple, text_of(answer.reason));
    each = end_tuple(&tuple);
    if (each == NULL || PyList_Append(list, each) != 0) Py_CLEAR(list);
    Py_XDECREF(each);
  }
  unlock_values(&self->values);
  if (list == NULL || status == MB_NOT_FOUND) return list;
  Py_DECREF(list);
  return raise_error(&error);
}

enum { NOT_FRESH, UNANSWERED, IS_STALE, CUT, COVERAGE, MONOTONIC_NS, REALTIME_NS, IS_CLOSED };

static PyObject* get_collected(PyObject* self, void* which) {
  static const char* const row_cuts[] = {"per_block", "cut", "exact"};
  static const char* const coverages[] = {"all", "some", "none"};
  const mb_collected* const collected = &((SampleObject*)self)->collected;
  switch ((int)(intptr_t)which) {
    case NOT_FRESH:
      return PyLong_FromUnsignedLongLong(collected->not_fresh);
    case UNANSWERED:
      return PyLong_FromUnsignedLongLong(collected->unanswered);
    case IS_STALE:
      return PyBool_FromLong(collected->is_stale);
    case CUT:
      return interned(row_cuts[collected->cut % 3]);
    case COVERAGE:
      return interned(coverages[collected->coverage % 3]);
    case MONOTONIC_NS:
      return PyLong_FromUnsignedLongLong(collected->monotonic_ns);
    case REALTIME_NS:
      return PyLong_FromUnsignedLongLong(collected->realtime_ns);
    default:
      return PyBool_FromLong(((SampleObject*)self)->handle == NULL);
  }
}
static Py_ssize_t sample_length(PyObject* self) {
  return (Py_ssize_t)((SampleObject*)self)->collected.rows;
}

static PyMethodDef sample_methods[] = {
    METHODS_OF_VALUES,
    {"since", sample_since, METH_O,
     "since(older) -> Difference\n\nWhat happened between two samples: rates need both."},
    {"close", sample_close, METH_NOARGS, "Idempotent. BufferError while its values are in use."},
    {"__enter__", return_self, METH_NOARGS, NULL},
    {"__exit__", sample_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef sample_members[] = {
    MEMBERS_OF_VALUES,
    {"answers", get_answers, NULL, "What came of asking providers: a list of Answer", NULL},
    {"not_fresh", get_collected, NULL, "Rows with any status but 'fresh'", (void*)NOT_FRESH},
    {"unanswered", get_collected, NULL, "Sets whose provider was asked and gave no rows",
     (void*)UNANSWERED},
    {"is_stale", get_collected, NULL, "refresh() and update() would see more", (void*)IS_STALE},
    {"cut", get_collected, NULL, "'per_block', 'cut' or 'exact': of all rows together", (void*)CUT},
    {"coverage", get_collected, NULL,
     "'all', 'some' or 'none': how much of it a recording sampled at that moment; live, 'all'",
     (void*)COVERAGE},
    {"monotonic_ns", get_collected, NULL, "CLOCK_MONOTONIC", (void*)MONOTONIC_NS},
    {"realtime_ns", get_collected, NULL, "Since 1970-01-01 UTC", (void*)REALTIME_NS},
    {"is_closed", get_collected, NULL, NULL, (void*)IS_CLOSED},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot sample_slots[] = {
    {Py_tp_doc,
     "What a query copied. It iterates over rows; its buffer is that of `cooked`, and stays as it "
     "is while\nit is in use. len() is the number of rows."},
    {Py_tp_new, SLOT(refuse_new)},
    {Py_tp_dealloc, SLOT(sample_dealloc)},
    {Py_tp_traverse, SLOT(sample_traverse)},
    {Py_tp_iter, SLOT(values_iter)},
    {Py_sq_length, SLOT(sample_length)},
    {Py_tp_methods, sample_methods},
    {Py_tp_getset, sample_members},
    {SLOT_GETBUFFER, SLOT(export_cooked)},
    {SLOT_RELEASEBUFFER, SLOT(release_cooked)},
    {0, NULL}};
static PyType_Spec sample_spec = {"meterbank.Sample", sizeof(SampleObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, sample_slots};

// ---- Difference ---------------------------------------------------------------------------------

static void difference_dealloc(PyObject* object) {
  ValuesObject* const self = (ValuesObject*)object;
  PyObject_GC_UnTrack(object);
  free_columns(&self->columns);
  Py_XDECREF(self->query);
  Py_XDECREF(self->newer);
  Py_XDECREF(self->older);
  free_object(object);
}
static int difference_traverse(PyObject* self, visitproc visit, void* arg) {
  const ValuesObject* const values = (const ValuesObject*)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(values->query);
  Py_VISIT(values->newer);
  Py_VISIT(values->older);
  return 0;
}

static PyMethodDef difference_methods[] = {METHODS_OF_VALUES, {NULL, NULL, 0, NULL}};
static PyGetSetDef difference_members[] = {MEMBERS_OF_VALUES, {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot difference_slots[] = {
    {Py_tp_doc,
     "What happened between two samples. Its buffers never change; its rows are there until one of "
     "the\nsamples is collected again or closed."},
    {Py_tp_new, SLOT(refuse_new)},
    {Py_tp_dealloc, SLOT(difference_dealloc)},
    {Py_tp_traverse, SLOT(difference_traverse)},
    {Py_tp_iter, SLOT(values_iter)},
    {Py_tp_methods, difference_methods},
    {Py_tp_getset, difference_members},
    {SLOT_GETBUFFER, SLOT(export_cooked)},
    {SLOT_RELEASEBUFFER, SLOT(release_cooked)},
    {0, NULL}};
static PyType_Spec difference_spec = {"meterbank.Difference", sizeof(ValuesObject), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, difference_slots};

static PyStructSequence_Field answer_fields[] = {{"provider", "'orders@48213'"},
                                                 {"set", NULL},
                                                 {"has_rows", "they are as new as the answer"},
                                                 {"rows", NULL},
                                                 {"reason", "'no answer within 1 s'"},
                                                 {NULL, NULL}};
static PyStructSequence_Desc answer_description = {
    "meterbank.Answer", "What came of asking for the rows of one set.", answer_fields, 5};

int add_sample_types(PyObject* module) {
  answer_type = add_named_tuple(module, &answer_description);
  if (answer_type == NULL || add_column_type(module) != 0) return -1;
  sample_type = add_type(module, &sample_spec);
  difference_type = sample_type == NULL ? NULL : add_type(module, &difference_spec);
  return difference_type == NULL ? -1 : 0;
}

int add_types_of_reading(PyObject* module) {
  if (add_catalog_type(module) != 0 || add_recording_type(module) != 0 ||
      add_query_type(module) != 0 || add_sample_types(module) != 0 ||
      add_value_types(module) != 0) {
    return -1;
  }
  return add_row_types(module);
}
