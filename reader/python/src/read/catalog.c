// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "read.h"

PyTypeObject* catalog_type;
static PyTypeObject* listed_provider_type;
static PyTypeObject* left_out_type;

tuple_writer begin_tuple(PyTypeObject* type) {
  tuple_writer tuple = {PyStructSequence_New(type), 0, false};
  tuple.has_failed = tuple.tuple == NULL;
  return tuple;
}
void put(tuple_writer* tuple, PyObject* member) {
  if (member == NULL) tuple->has_failed = true;
  if (tuple->has_failed) {
    Py_XDECREF(member);
  } else {
    PyStructSequence_SetItem(tuple->tuple, tuple->next++, member);
  }
}
PyObject* end_tuple(tuple_writer* tuple) {
  if (tuple->has_failed) Py_CLEAR(tuple->tuple);
  return tuple->tuple;
}

mb_catalog* open_catalog(const CatalogObject* catalog) {
  if (catalog->handle == NULL) raise_closed("catalog");
  return catalog->handle;
}

// ---- Creation and end ---------------------------------------------------------------------------

// The directories as one text, with ':' between them. NULL without an exception: the usual ones.
static PyObject* read_directories(PyObject* arguments) {
  const Py_ssize_t count = PyTuple_Size(arguments);
  PyObject* joined = NULL;
  Py_ssize_t at;
  for (at = 0; at < count; ++at) {
    PyObject* path = NULL;
    if (!PyUnicode_FSConverter(PyTuple_GetItem(arguments, at), &path)) goto failed;
    if (strchr(PyBytes_AsString(path), ':') != NULL || PyBytes_Size(path) == 0) {
      PyErr_SetString(PyExc_ValueError, "a directory must not be empty or contain ':'");
      Py_DECREF(path);
      goto failed;
    }
    if (joined == NULL) {
      joined = path;
      continue;
    }
    PyBytes_ConcatAndDel(&joined, PyBytes_FromString(":"));
    PyBytes_ConcatAndDel(&joined, path);
    if (joined == NULL) return NULL;
  }
  return joined;
failed:
  Py_XDECREF(joined);
  return NULL;
}

static int read_policies(PyObject* keywords, mb_catalog_options* options) {
  static char* names[] = {"users", "trust", NULL};
  PyObject* users = NULL;
  PyObject* trust = NULL;
  PyObject* const none = PyTuple_New(0);
  int is_read;
  if (none == NULL) return 0;
  is_read = PyArg_ParseTupleAndKeywords(none, keywords, "|$OO:Catalog", names, &users, &trust);
  Py_DECREF(none);
  if (!is_read) return 0;
  if (users != NULL && !to_word(users, user_policies, "users", &options->users)) return 0;
  return trust == NULL || to_word(trust, user_policies, "trust", &options->trust);
}

static int catalog_init(PyObject* object, PyObject* arguments, PyObject* keywords) {
  CatalogObject* const self = (CatalogObject*)object;
  mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  mb_catalog* handle = NULL;
  PyObject* directories;
  mb_status status;
  mb_error error;
  if (!read_policies(keywords, &options)) return -1;
  directories = read_directories(arguments);
  if (directories == NULL && PyErr_Occurred() != NULL) return -1;
  if (directories != NULL) options.directory = PyBytes_AsString(directories);
  if (self->is_initialised) {
    PyErr_SetString(PyExc_RuntimeError, "the catalog is initialised already");
    Py_XDECREF(directories);
    return -1;
  }
  self->is_initialised = true;
  Py_BEGIN_ALLOW_THREADS status = mb_catalog_open(&options, &handle, &error);
  Py_END_ALLOW_THREADS Py_XDECREF(directories);
  self->handle = handle;
  if (status == MB_OK) return 0;
  self->is_initialised = false;
  raise_error(&error);
  return -1;
}

static PyObject* catalog_close(PyObject* object, PyObject* unused) {
  CatalogObject* const self = (CatalogObject*)object;
  mb_catalog* const handle = self->handle;
  (void)unused;
  self->handle = NULL;
  Py_BEGIN_ALLOW_THREADS mb_catalog_close(handle);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}
static PyObject* catalog_exit(PyObject* self, PyObject* arguments) {
  return catalog_close(self, arguments);
}

static void catalog_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  mb_catalog_close(((CatalogObject*)self)->handle);
  free_object(self);
}
static int catalog_traverse(PyObject* self, visitproc visit, void* arg) {
  (void)self;
  Py_VISIT(Py_TYPE(self));
  return 0;
}

// ---- What is there ------------------------------------------------------------------------------

static PyObject* catalog_refresh(PyObject* object, PyObject* unused) {
  CatalogObject* const self = (CatalogObject*)object;
  mb_catalog* handle;
  mb_status status;
  mb_error error;
  (void)unused;
  if (!take_turn(&self->used)) return NULL;
  handle = self->handle;
  Py_BEGIN_ALLOW_THREADS status = mb_catalog_refresh(handle, &error);
  Py_END_ALLOW_THREADS end_turn(&self->used);
  if (status == MB_OK) Py_RETURN_NONE;
  return handle == NULL ? raise_closed("catalog") : raise_error(&error);
}

static PyObject* provider_of(const mb_listed_provider* listed) {
  tuple_writer tuple = begin_tuple(listed_provider_type);
  put(&tuple, text_of(listed->name));
  put(&tuple, text_of(listed->label));
  put(&tuple, interned(mb_provider_state_text(listed->state)));
  put(&tuple, PyLong_FromUnsignedLong(listed->pid));
  put(&tuple, PyLong_FromUnsignedLong(listed->uid));
  put(&tuple, PyBool_FromLong(listed->is_trusted));
  put(&tuple, PyLong_FromUnsignedLong(listed->sets));
  put(&tuple, PyLong_FromUnsignedLongLong(listed->bytes));
  put(&tuple, text_of(listed->why));
  put(&tuple, text_of(listed->remedy));
  return end_tuple(&tuple);
}
static PyObject* left_out_of(const mb_left_out* left_out) {
  tuple_writer tuple = begin_tuple(left_out_type);
  put(&tuple, text_of(left_out->reason));
  put(&tuple, PyLong_FromUnsignedLongLong(left_out->count));
  put(&tuple, PyLong_FromUnsignedLong(left_out->uid));
  put(&tuple, PyBool_FromLong(left_out->hides_providers));
  return end_tuple(&tuple);
}

static PyObject* next_provider(mb_catalog* catalog, size_t index) {
  mb_listed_provider listed = MB_LISTED_PROVIDER_INIT;
  mb_error error;
  const mb_status status = mb_catalog_provider(catalog, index, &listed, &error);
  if (status == MB_OK) return provider_of(&listed);
  if (status != MB_NOT_FOUND) raise_error(&error);
  return NULL;
}
static PyObject* next_left_out(mb_catalog* catalog, size_t index) {
  mb_left_out left_out = MB_LEFT_OUT_INIT;
  mb_error error;
  const mb_status status = mb_catalog_left_out(catalog, index, &left_out, &error);
  if (status == MB_OK) return left_out_of(&left_out);
  if (status != MB_NOT_FOUND) raise_error(&error);
  return NULL;
}

PyObject* list_all(CatalogObject* self, get_next next) {
  mb_catalog* handle;
  PyObject* list;
  PyObject* each;
  size_t index = 0;
  if (!take_turn(&self->used)) return NULL;
  handle = open_catalog(self);
  list = handle == NULL ? NULL : PyList_New(0);
  while (list != NULL && (each = next(handle, index++)) != NULL) {
    if (PyList_Append(list, each) != 0) Py_CLEAR(list);
    Py_DECREF(each);
  }
  end_turn(&self->used);
  if (list != NULL && PyErr_Occurred() != NULL) Py_CLEAR(list);
  return list;
}

static PyObject* get_providers(PyObject* self, void* unused) {
  (void)unused;
  return list_all((CatalogObject*)self, next_provider);
}
static PyObject* get_left_out(PyObject* self, void* unused) {
  (void)unused;
  return list_all((CatalogObject*)self, next_left_out);
}

enum { IS_STALE, VERSION };

static PyObject* get_of_summary(PyObject* object, void* which) {
  CatalogObject* const self = (CatalogObject*)object;
  mb_catalog_summary summary = MB_CATALOG_SUMMARY_INIT;
  mb_catalog* handle;
  mb_status status;
  mb_error error;
  if (!take_turn(&self->used)) return NULL;
  handle = self->handle;
  Py_BEGIN_ALLOW_THREADS status = mb_catalog_summarize(handle, &summary, &error);
  Py_END_ALLOW_THREADS end_turn(&self->used);
  if (handle == NULL) return raise_closed("catalog");
  if (status != MB_OK) return raise_error(&error);
  return (intptr_t)which == IS_STALE ? PyBool_FromLong(summary.is_stale)
                                     : PyLong_FromUnsignedLongLong(summary.version);
}
static PyObject* get_is_closed(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(((CatalogObject*)self)->handle == NULL);
}

static PyObject* catalog_query(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* const mine = Py_BuildValue("(OO)", self, arguments);
  PyObject* query;
  if (mine == NULL) return NULL;
  query = PyObject_Call((PyObject*)query_type, mine, keywords);
  Py_DECREF(mine);
  return query;
}

// ---- The type -----------------------------------------------------------------------------------

static PyMethodDef methods[] = {
    {"refresh", catalog_refresh, METH_NOARGS,
     "Looks for new providers, reads again what changed, and notices deaths."},
    {"query", KEYWORDS(catalog_query), METH_VARARGS | METH_KEYWORDS,
     "query(*paths, excluded=()) -> Query"},
    {"close", catalog_close, METH_NOARGS, "Queries and samples may outlive it. Idempotent."},
    {"__enter__", return_self, METH_NOARGS, NULL},
    {"__exit__", catalog_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"providers", get_providers, NULL, "A list of ListedProvider", NULL},
    {"left_out", get_left_out, NULL, "What was not read, and why: a list of LeftOut", NULL},
    {"is_stale", get_of_summary, NULL,
     "refresh() would find a change; new providers are not noticed", (void*)IS_STALE},
    {"version", get_of_summary, NULL, "Grows with every refresh that changed anything",
     (void*)VERSION},
    {"is_closed", get_is_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Catalog(*directories, users='everyone', trust='own_and_root')\n\nThe providers of this "
     "machine. Without directories: METERBANK_DIR, else the usual ones."},
    {Py_tp_init, SLOT(catalog_init)},
    {Py_tp_new, SLOT(PyType_GenericNew)},
    {Py_tp_dealloc, SLOT(catalog_dealloc)},
    {Py_tp_traverse, SLOT(catalog_traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL}};
static PyType_Spec spec = {"meterbank.Catalog", sizeof(CatalogObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

static PyStructSequence_Field listed_provider_fields[] = {
    {"name", "'orders'"},
    {"label", "'orders@48213'"},
    {"state", "'live', 'hung', 'dead', 'closed', 'unreadable' or 'foreign'"},
    {"pid", NULL},
    {"uid", NULL},
    {"is_trusted", "its rows are part of totals"},
    {"sets", "how many sets it has"},
    {"bytes", "of its memory that are mapped"},
    {"why", "why it cannot be read or verified; else empty"},
    {"remedy", "what to try; may be empty"},
    {NULL, NULL}};
static PyStructSequence_Desc listed_provider_description = {
    "meterbank.ListedProvider", "One provider of a catalog.", listed_provider_fields, 10};
static PyStructSequence_Field left_out_fields[] = {
    {"reason", NULL},
    {"count", NULL},
    {"uid", "of the owner"},
    {"hides_providers", "healthy providers may be among it"},
    {NULL, NULL}};
static PyStructSequence_Desc left_out_description = {
    "meterbank.LeftOut", "What a catalog did not read.", left_out_fields, 4};

int add_catalog_type(PyObject* module) {
  listed_provider_type = add_named_tuple(module, &listed_provider_description);
  left_out_type =
      listed_provider_type == NULL ? NULL : add_named_tuple(module, &left_out_description);
  catalog_type = left_out_type == NULL ? NULL : add_type(module, &spec);
  return catalog_type == NULL ? -1 : 0;
}
