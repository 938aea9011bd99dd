// SPDX-License-Identifier: Apache-2.0
#include "read.h"

PyTypeObject* query_type;
static PyTypeObject* unmatched_type;

mb_query* open_query(const QueryObject* query) {
  if (query->handle == NULL) raise_closed("query");
  return query->handle;
}

// ---- Creation and end ---------------------------------------------------------------------------

static int compile(QueryObject* self, CatalogObject* catalog, const text_list* paths,
                   const text_list* excluded) {
  mb_query* handle = NULL;
  mb_catalog* const of = open_catalog(catalog);
  mb_status status;
  mb_error error;
  if (of == NULL || !take_turn(&catalog->used)) return -1;
  Py_BEGIN_ALLOW_THREADS status = mb_query_compile(of, paths->texts, paths->count, excluded->texts,
                                                   excluded->count, &handle, &error);
  Py_END_ALLOW_THREADS end_turn(&catalog->used);
  if (status != MB_OK) {
    raise_error(&error);
    return -1;
  }
  self->handle = handle;
  Py_INCREF(catalog);
  self->catalog = catalog;
  return 0;
}

static int query_init(PyObject* object, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"catalog", "paths", "excluded", NULL};
  QueryObject* const self = (QueryObject*)object;
  PyObject* catalog = NULL;
  PyObject* path_object = NULL;
  PyObject* excluded_object = NULL;
  text_list paths = {NULL, NULL, 0};
  text_list excluded = {NULL, NULL, 0};
  int result = -1;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|OO:Query", names, catalog_type,
                                   &catalog, &path_object, &excluded_object)) {
    return -1;
  }
  if ((path_object != NULL && to_text_list(path_object, "a path", &paths) != 0) ||
      (excluded_object != NULL && to_text_list(excluded_object, "a glob", &excluded) != 0)) {
    // an exception
  } else if (self->is_initialised) {
    PyErr_SetString(PyExc_RuntimeError, "the query is initialised already");
  } else {
    self->is_initialised = true;
    result = compile(self, (CatalogObject*)catalog, &paths, &excluded);
    if (result != 0) self->is_initialised = false;
  }
  free_text_list(&paths);
  free_text_list(&excluded);
  return result;
}

static PyObject* query_close(PyObject* object, PyObject* unused) {
  QueryObject* const self = (QueryObject*)object;
  mb_query* const handle = self->handle;
  (void)unused;
  self->handle = NULL;
  Py_BEGIN_ALLOW_THREADS mb_query_close(handle);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}
static PyObject* query_exit(PyObject* self, PyObject* arguments) {
  return query_close(self, arguments);
}

static void query_dealloc(PyObject* object) {
  QueryObject* const self = (QueryObject*)object;
  PyObject_GC_UnTrack(object);
  mb_query_close(self->handle);
  Py_XDECREF(self->catalog);
  Py_XDECREF(self->paths);
  Py_XDECREF(self->units);
  free_object(object);
}
static int query_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((QueryObject*)self)->catalog);
  return 0;
}

// ---- Update -------------------------------------------------------------------------------------

static PyObject* query_update(PyObject* object, PyObject* unused) {
  QueryObject* const self = (QueryObject*)object;
  CatalogObject* const catalog = self->catalog;
  mb_query* handle;
  mb_catalog* of;
  mb_status status;
  mb_error error;
  int changed = 0;
  (void)unused;
  if (open_query(self) == NULL || open_catalog(catalog) == NULL) return NULL;
  if (!take_turn(&self->used)) return NULL;
  if (!take_turn(&catalog->used)) {
    end_turn(&self->used);
    return NULL;
  }
  handle = self->handle;
  of = catalog->handle;
  Py_BEGIN_ALLOW_THREADS status = mb_query_update(handle, of, &changed, &error);
  Py_END_ALLOW_THREADS end_turn(&catalog->used);
  end_turn(&self->used);
  return status == MB_OK ? PyBool_FromLong(changed) : raise_error(&error);
}

static PyObject* get_unmatched(PyObject* object, void* unused) {
  QueryObject* const self = (QueryObject*)object;
  PyObject* list = NULL;
  mb_query* handle;
  mb_status status = MB_OK;
  mb_error error;
  size_t index;
  (void)unused;
  if (!take_turn(&self->used)) return NULL;
  handle = open_query(self);
  if (handle != NULL) list = PyList_New(0);
  for (index = 0; list != NULL; ++index) {
    mb_unmatched unmatched = MB_UNMATCHED_INIT;
    tuple_writer tuple;
    PyObject* each;
    status = mb_query_unmatched(handle, index, &unmatched, &error);
    if (status != MB_OK) break;
    tuple = begin_tuple(unmatched_type);
    put(&tuple, text_of(unmatched.path));
    put(&tuple, text_of(unmatched.part));
    put(&tuple, text_of(unmatched.suggestion));
    each = end_tuple(&tuple);
    if (each == NULL || PyList_Append(list, each) != 0) Py_CLEAR(list);
    Py_XDECREF(each);
  }
  end_turn(&self->used);
  if (list == NULL || status == MB_NOT_FOUND) return list;
  Py_DECREF(list);
  return raise_error(&error);
}

// ---- Collecting ---------------------------------------------------------------------------------

typedef struct collecting {
  mb_cut cut;
  bool asks;
  uint64_t timeout_ns;
} collecting;

// Precondition: this thread has the turns of both.
static PyObject* collect(QueryObject* self, SampleObject* sample, const collecting* how) {
  mb_query* const handle = open_query(self);
  mb_sample* const into = sample->handle;
  mb_collected collected = MB_COLLECTED_INIT;
  mb_status status;
  mb_error error;
  if (handle == NULL) return NULL;
  if (into == NULL) return raise_closed("sample");
  if (sample->values.columns.exports != 0) {
    PyErr_SetString(PyExc_BufferError, "the values of the sample are still in use");
    return NULL;
  }
  sample->values.columns.is_filled = false;
  ++sample->collections;
  Py_BEGIN_ALLOW_THREADS if (how->asks) {
    status = mb_query_ask(handle, into, how->timeout_ns, how->cut, &collected, &error);
  }
  else {
    status = mb_query_collect(handle, into, how->cut, &collected, &error);
  }
  Py_END_ALLOW_THREADS sample->values.newer_collections = sample->collections;
  if (status != MB_OK) return raise_error(&error);
  sample->collected = collected;
  Py_INCREF(sample);
  return (PyObject*)sample;
}

static int read_timeout(PyObject* object, collecting* how) {
  double seconds = 0;
  if (object == Py_None) return 1;
  if (!to_real(object, &seconds)) return 0;
  if (!(seconds >= 0)) {
    PyErr_SetString(PyExc_ValueError, "timeout must not be negative");
    return 0;
  }
  how->asks = true;
  how->timeout_ns = seconds < 9e9 ? (uint64_t)(seconds * 1e9) : UINT64_MAX;
  return 1;
}

static PyObject* query_collect(PyObject* object, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"into", "timeout", "cut", NULL};
  QueryObject* const self = (QueryObject*)object;
  PyObject* into = Py_None;
  PyObject* timeout = Py_None;
  PyObject* cut = NULL;
  PyObject* result = NULL;
  collecting how = {MB_CUT_NONE, false, 0};
  uint32_t number = MB_CUT_NONE;
  SampleObject* sample;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O$OO:collect", names, &into, &timeout,
                                   &cut) ||
      !read_timeout(timeout, &how) || (cut != NULL && !to_word(cut, cuts, "cut", &number))) {
    return NULL;
  }
  how.cut = (mb_cut)number;
  if (into == Py_None) {
    into = new_sample(self);
    if (into == NULL) return NULL;
  } else if (Py_TYPE(into) == sample_type) {
    Py_INCREF(into);
  } else {
    PyErr_Format(PyExc_TypeError, "into must be a Sample, not %R", (PyObject*)Py_TYPE(into));
    return NULL;
  }
  sample = (SampleObject*)into;
  if (take_turn(&self->used)) {
    if (take_turn(&sample->used)) {
      result = collect(self, sample, &how);
      end_turn(&sample->used);
    }
    end_turn(&self->used);
  }
  Py_DECREF(into);
  return result;
}

static PyObject* get_catalog(PyObject* self, void* unused) {
  PyObject* const catalog = (PyObject*)((QueryObject*)self)->catalog;
  (void)unused;
  if (catalog == NULL) return raise_closed("query");
  Py_INCREF(catalog);
  return catalog;
}
static PyObject* get_is_closed(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(((QueryObject*)self)->handle == NULL);
}

// ---- The type -----------------------------------------------------------------------------------

static PyMethodDef methods[] = {
    {"collect", KEYWORDS(query_collect), METH_VARARGS | METH_KEYWORDS,
     "collect(into=None, *, timeout=None, cut='none') -> Sample\n\nCopies the values, into a new "
     "sample or over those of `into`. With a timeout in seconds, providers\nthat compute rows on "
     "demand are asked; without one, their last answers are used. `cut`: 'none',\n'try' or "
     "'epoch'."},
    {"update", query_update, METH_NOARGS,
     "update() -> bool\n\nAdapts to the catalog after its refresh(), or to another moment of a "
     "recording. Whether it\nselects other rows now."},
    {"close", query_close, METH_NOARGS, "Samples may outlive it. Idempotent."},
    {"__enter__", return_self, METH_NOARGS, NULL},
    {"__exit__", query_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"unmatched", get_unmatched, NULL, "Paths that select nothing: a list of Unmatched", NULL},
    {"catalog", get_catalog, NULL, NULL, NULL},
    {"is_closed", get_is_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Query(catalog, paths=(), excluded=())\n\nWhat to copy: counter paths with globs; no paths "
     "select everything that is shown by default."},
    {Py_tp_init, SLOT(query_init)},
    {Py_tp_new, SLOT(PyType_GenericNew)},
    {Py_tp_dealloc, SLOT(query_dealloc)},
    {Py_tp_traverse, SLOT(query_traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL}};
static PyType_Spec spec = {"meterbank.Query", sizeof(QueryObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

static PyStructSequence_Field unmatched_fields[] = {
    {"path", NULL},
    {"part", "'counterset', 'instance', 'counter' or 'provider'"},
    {"suggestion", "the nearest name that exists; may be empty"},
    {NULL, NULL}};
static PyStructSequence_Desc unmatched_description = {
    "meterbank.Unmatched", "A path that selects nothing.", unmatched_fields, 3};

int add_query_type(PyObject* module) {
  unmatched_type = add_named_tuple(module, &unmatched_description);
  query_type = unmatched_type == NULL ? NULL : add_type(module, &spec);
  return query_type == NULL ? -1 : 0;
}
