// SPDX-License-Identifier: Apache-2.0
//
// A recording: a catalog that shows one moment after another.
#include "read.h"

static PyTypeObject* flaw_type;
static PyTypeObject* mark_type;

static int recording_init(PyObject* object, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"path", "users", "trust", NULL};
  CatalogObject* const self = (CatalogObject*)object;
  mb_catalog_options options = MB_CATALOG_OPTIONS_INIT;
  PyObject* path = NULL;
  PyObject* users = NULL;
  PyObject* trust = NULL;
  mb_catalog* handle = NULL;
  mb_status status;
  mb_error error;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&|$OO:Recording", names,
                                   PyUnicode_FSConverter, &path, &users, &trust)) {
    return -1;
  }
  if ((users != NULL && !to_word(users, user_policies, "users", &options.users)) ||
      (trust != NULL && !to_word(trust, user_policies, "trust", &options.trust))) {
    Py_DECREF(path);
    return -1;
  }
  if (self->is_initialised) {
    PyErr_SetString(PyExc_RuntimeError, "the recording is initialised already");
    Py_DECREF(path);
    return -1;
  }
  self->is_initialised = true;
  {
    const char* const name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = mb_recording_open(name, &options, &handle, &error);
    Py_END_ALLOW_THREADS
  }
  Py_DECREF(path);
  self->handle = handle;
  if (status == MB_OK) return 0;
  self->is_initialised = false;
  raise_error(&error);
  return -1;
}

// ---- Moments ------------------------------------------------------------------------------------

// Of the moment that is shown, as a new reference.
static PyObject* moment_of(mb_catalog* handle) {
  mb_recording_summary summary = MB_RECORDING_SUMMARY_INIT;
  mb_error error;
  if (mb_recording_summarize(handle, &summary, &error) != MB_OK) return raise_error(&error);
  return PyLong_FromUnsignedLongLong(summary.moment_ns);
}

static PyObject* recording_next(PyObject* object) {
  CatalogObject* const self = (CatalogObject*)object;
  PyObject* moment = NULL;
  mb_catalog* handle;
  mb_status status;
  mb_error error;
  if (!take_turn(&self->used)) return NULL;
  handle = self->handle;
  Py_BEGIN_ALLOW_THREADS status = mb_recording_next(handle, &error);
  Py_END_ALLOW_THREADS if (handle == NULL) raise_closed("recording");
  else if (status == MB_OK) moment = moment_of(handle);
  else if (status != MB_NOT_FOUND) raise_error(&error);
  end_turn(&self->used);
  return moment;
}

static PyObject* recording_seek(PyObject* object, PyObject* argument) {
  CatalogObject* const self = (CatalogObject*)object;
  uint64_t realtime_ns = 0;
  mb_catalog* handle;
  mb_status status;
  mb_error error;
  if (!to_uint64(argument, &realtime_ns) || !take_turn(&self->used)) return NULL;
  handle = self->handle;
  Py_BEGIN_ALLOW_THREADS status = mb_recording_seek(handle, realtime_ns, &error);
  Py_END_ALLOW_THREADS end_turn(&self->used);
  if (handle == NULL) return raise_closed("recording");
  if (status == MB_OK) Py_RETURN_TRUE;
  if (status == MB_NOT_FOUND) Py_RETURN_FALSE;
  return raise_error(&error);
}

// ---- What it has --------------------------------------------------------------------------------

enum { FIRST, LAST, MOMENT, WINDOW, FILES, BYTES, MISSED, HOST, RECORDER };

static PyObject* member_of(const mb_recording_summary* summary, int which) {
  switch (which) {
    case FIRST:
      return PyLong_FromUnsignedLongLong(summary->first_ns);
    case LAST:
      return PyLong_FromUnsignedLongLong(summary->last_ns);
    case MOMENT:
      if (summary->moment_ns == 0) Py_RETURN_NONE;
      return PyLong_FromUnsignedLongLong(summary->moment_ns);
    case WINDOW:
      return PyLong_FromUnsignedLongLong(summary->window_ns);
    case FILES:
      return PyLong_FromUnsignedLong(summary->files);
    case BYTES:
      return PyLong_FromUnsignedLongLong(summary->bytes);
    case MISSED:
      return PyLong_FromUnsignedLongLong(summary->missed);
    case HOST:
      return text_of(summary->host);
    default:
      return text_of(summary->recorder);
  }
}

static PyObject* get_of_summary(PyObject* object, void* which) {
  CatalogObject* const self = (CatalogObject*)object;
  mb_recording_summary summary = MB_RECORDING_SUMMARY_INIT;
  PyObject* member = NULL;
  mb_catalog* handle;
  mb_error error;
  if (!take_turn(&self->used)) return NULL;
  handle = self->handle;
  if (handle == NULL) {
    raise_closed("recording");
  } else if (mb_recording_summarize(handle, &summary, &error) != MB_OK) {
    raise_error(&error);
  } else {
    member = member_of(&summary, (int)(intptr_t)which);
  }
  end_turn(&self->used);
  return member;
}

static PyObject* next_flaw(mb_catalog* catalog, size_t index) {
  mb_flaw flaw = MB_FLAW_INIT;
  tuple_writer tuple;
  mb_error error;
  const mb_status status = mb_recording_flaw(catalog, index, &flaw, &error);
  if (status == MB_NOT_FOUND) return NULL;
  if (status != MB_OK) return raise_error(&error);
  tuple = begin_tuple(flaw_type);
  put(&tuple, text_of(flaw.reason));
  put(&tuple, PyLong_FromUnsignedLongLong(flaw.missed));
  put(&tuple, PyLong_FromUnsignedLongLong(flaw.from_ns));
  put(&tuple, PyLong_FromUnsignedLongLong(flaw.to_ns));
  put(&tuple, PyUnicode_DecodeFSDefault(flaw.path));
  put(&tuple, PyLong_FromUnsignedLongLong(flaw.offset));
  put(&tuple, PyLong_FromUnsignedLongLong(flaw.bytes));
  return end_tuple(&tuple);
}

static PyObject* next_mark(mb_catalog* catalog, size_t index) {
  mb_mark mark = MB_MARK_INIT;
  tuple_writer tuple;
  mb_error error;
  const mb_status status = mb_recording_mark(catalog, index, &mark, &error);
  if (status == MB_NOT_FOUND) return NULL;
  if (status != MB_OK) return raise_error(&error);
  tuple = begin_tuple(mark_type);
  put(&tuple, PyLong_FromUnsignedLongLong(mark.time_ns));
  put(&tuple, text_of(mark.text));
  return end_tuple(&tuple);
}

static PyObject* get_flaws(PyObject* self, void* unused) {
  (void)unused;
  return list_all((CatalogObject*)self, next_flaw);
}
static PyObject* get_marks(PyObject* self, void* unused) {
  (void)unused;
  return list_all((CatalogObject*)self, next_mark);
}

static PyObject* recording_iter(PyObject* self) { return return_self(self, NULL); }

// ---- The type -----------------------------------------------------------------------------------

static PyMethodDef methods[] = {{"seek", recording_seek, METH_O,
                                 "seek(realtime_ns) -> bool\n\nShows the last moment at or before "
                                 "a time. False: there is none, "
                                 "and nothing has changed."},
                                {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"first_ns", get_of_summary, NULL, "The earliest moment, since 1970-01-01 UTC; 0 without any",
     (void*)FIRST},
    {"last_ns", get_of_summary, NULL, "The latest moment", (void*)LAST},
    {"moment_ns", get_of_summary, NULL, "The moment that is shown; None before the first",
     (void*)MOMENT},
    {"window_ns", get_of_summary, NULL, "How long it took to sample it", (void*)WINDOW},
    {"files", get_of_summary, NULL, NULL, (void*)FILES},
    {"bytes", get_of_summary, NULL, "Of all files", (void*)BYTES},
    {"missed", get_of_summary, NULL, "Samples that the recorder counted as missed, as far as read",
     (void*)MISSED},
    {"host", get_of_summary, NULL, "Where it was recorded", (void*)HOST},
    {"recorder", get_of_summary, NULL, "'meterbank 0.2.0'", (void*)RECORDER},
    {"flaws", get_flaws, NULL, "What is missing, as far as it was read: a list of Flaw", NULL},
    {"marks", get_marks, NULL, "Texts of moments, as far as it was read: a list of Mark", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_base, NULL},
    {Py_tp_doc,
     "Recording(path, *, users='everyone', trust='own_and_root')\n\nWhat `meterbank record` has "
     "kept in a file or a directory: a catalog that shows one moment\nafter another. It iterates "
     "over its moments, from the one that is shown, and gives their times in\nnanoseconds since "
     "1970-01-01 UTC. Queries show the moment of their last update()."},
    {Py_tp_init, SLOT(recording_init)},
    {Py_tp_iter, SLOT(recording_iter)},
    {Py_tp_iternext, SLOT(recording_next)},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL}};
static PyType_Spec spec = {"meterbank.Recording", sizeof(CatalogObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

static PyStructSequence_Field flaw_fields[] = {
    {"reason", "'late', 'no space'; of bytes, what is wrong with them"},
    {"missed", "samples of a gap; 0: bytes that cannot be read"},
    {"from_ns", "of a gap"},
    {"to_ns", NULL},
    {"path", "of bytes: the file"},
    {"offset", NULL},
    {"bytes", NULL},
    {NULL, NULL}};
static PyStructSequence_Desc flaw_description = {"meterbank.Flaw",
                                                 "What is missing of a recording.", flaw_fields, 7};
static PyStructSequence_Field mark_fields[] = {
    {"time_ns", NULL}, {"text", "'make ended with status 2'"}, {NULL, NULL}};
static PyStructSequence_Desc mark_description = {
    "meterbank.Mark", "A text that the recorder gave to a moment.", mark_fields, 2};

int add_recording_type(PyObject* module) {
  flaw_type = add_named_tuple(module, &flaw_description);
  mark_type = flaw_type == NULL ? NULL : add_named_tuple(module, &mark_description);
  slots[0].pfunc = catalog_type;
  return mark_type == NULL || add_type(module, &spec) == NULL ? -1 : 0;
}
