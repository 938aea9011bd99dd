// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

static ProviderObject* open_providers;  // guarded by the GIL

static void enlist(ProviderObject* self) {
  self->previous = NULL;
  self->next = open_providers;
  if (open_providers != NULL) open_providers->previous = self;
  open_providers = self;
}
static void delist(ProviderObject* self) {
  if (self->previous != NULL) self->previous->next = self->next;
  if (self->next != NULL) self->next->previous = self->previous;
  if (open_providers == self) open_providers = self->next;
}

// ---- Creation -----------------------------------------------------------------------------------

static int read_options(PyObject* arguments, PyObject* keywords, mb_provider_options* options,
                        int* is_required, PyObject** directory) {
  int keep_record = 0;
  static char* names[] = {"name",
                          "readers",
                          "directory",
                          "required",
                          "bytes_max",
                          "instances_max",
                          "registrations_max",
                          "callbacks_max",
                          "heartbeat_ms",
                          "quarantine_ms",
                          "cut_period_us",
                          "keep_record",
                          NULL};
  const int is_read = PyArg_ParseTupleAndKeywords(
      arguments, keywords, "s|$zO&pO&O&O&O&O&O&O&p:Provider", names, &options->name,
      &options->readers, to_path, directory, is_required, to_uint64, &options->bytes_max, to_uint32,
      &options->instances_max, to_uint32, &options->registrations_max, to_uint32,
      &options->callbacks_max, to_uint32, &options->heartbeat_ms, to_uint64,
      &options->quarantine_ms, to_uint64, &options->cut_period_us, &keep_record);
  options->keep_record = keep_record != 0;
  return is_read;
}

static int open_provider(ProviderObject* self, const mb_provider_options* options, bool required) {
  mb_provider* provider = NULL;
  mb_status status = MB_OK;
  mb_error error;
  self->state = PROVIDER_CLOSED;  // until it is open: another thread may call __init__, too
  Py_BEGIN_ALLOW_THREADS if (required) { status = mb_provider_create(options, &provider, &error); }
  else {
    provider = mb_provider_create_or_disabled(options);
  }
  Py_END_ALLOW_THREADS if (status != MB_OK) {
    self->state = PROVIDER_NEW;
    raise_error(&error);
    return -1;
  }
  self->handle = provider;
  self->state = PROVIDER_OPEN;
  enlist(self);
  return 0;
}

static int provider_init(PyObject* object, PyObject* arguments, PyObject* keywords) {
  ProviderObject* const self = (ProviderObject*)object;
  mb_provider_options options = MB_PROVIDER_OPTIONS_INIT;
  PyObject* directory = NULL;
  int is_required = 1;
  int result = -1;
  if (!read_options(arguments, keywords, &options, &is_required, &directory)) {
    Py_XDECREF(directory);
    return -1;
  }
  if (directory != NULL) options.directory = PyBytes_AsString(directory);
  if (self->state != PROVIDER_NEW) {
    PyErr_SetString(PyExc_RuntimeError, "the provider is initialised already");
  } else if (callbacks_have_ended()) {
    raise_status(MB_CLOSED, "", "the interpreter is ending");
  } else {
    result = open_provider(self, &options, is_required != 0);
  }
  Py_XDECREF(directory);
  return result;
}

// ---- End ----------------------------------------------------------------------------------------

static void close_sets(ProviderObject* self) {
  // Without the GIL, another thread may add or take away sets: each time from the beginning.
  for (;;) {
    published_set* set = self->sets;
    while (set != NULL && !set->is_open) set = set->next;
    if (set == NULL) return;
    ++set->references;
    close_set(set);
    release_set(set);
  }
}

static void release_sets(ProviderObject* self) {
  while (self->sets != NULL) {
    published_set* const set = self->sets;
    self->sets = set->next;
    release_set(set);
  }
}

static void close_provider(ProviderObject* self) {
  mb_provider* const handle = self->handle;
  if (self->state != PROVIDER_OPEN) return;
  self->state = PROVIDER_CLOSED;
  self->handle = NULL;
  delist(self);
  close_sets(self);
  Py_BEGIN_ALLOW_THREADS mb_provider_close(handle);
  Py_END_ALLOW_THREADS
}

PyObject* end_publishing(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  refuse_callbacks();
  while (open_providers != NULL) {
    ProviderObject* const provider = open_providers;
    Py_INCREF(provider);
    close_provider(provider);
    Py_DECREF(provider);
  }
  wait_for_callbacks();
  Py_RETURN_NONE;
}

static void provider_finalize(PyObject* self) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  close_provider((ProviderObject*)self);
  close_sets((ProviderObject*)self);  // one that was added while it closed
  PyErr_Restore(type, value, traceback);
}

static void provider_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  provider_finalize(self);
  release_sets((ProviderObject*)self);
  free_object(self);
}

static int provider_traverse(PyObject* self, visitproc visit, void* arg) {
  const published_set* set;
  Py_VISIT(Py_TYPE(self));
  for (set = ((ProviderObject*)self)->sets; set != NULL; set = set->next) {
    const int result = visit_context(set->context, visit, arg);
    if (result != 0) return result;
  }
  return 0;
}

// ---- Methods ------------------------------------------------------------------------------------

static PyObject* provider_close(PyObject* self, PyObject* unused) {
  (void)unused;
  close_provider((ProviderObject*)self);
  Py_RETURN_NONE;
}
static PyObject* provider_exit(PyObject* self, PyObject* unused) {
  (void)unused;
  return provider_close(self, NULL);
}

typedef struct adding {
  PyObject* callback;
  bool is_serial;
  bool has_interest;
} adding;

// Takes a keyword out of those that describe the set. -1: an exception.
static int take_flag(PyObject* keywords, const char* name, bool* flag) {
  PyObject* const value = PyMapping_GetItemString(keywords, name);
  int is_true;
  if (value == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_KeyError)) return -1;
    PyErr_Clear();
    return 0;
  }
  is_true = PyObject_IsTrue(value);
  Py_DECREF(value);
  if (is_true < 0) return -1;
  *flag = is_true != 0;
  return PyDict_DelItemString(keywords, name);
}

// `keywords` is left with the members of the description.
static int read_adding(PyObject* keywords, adding* read) {
  PyObject* const callback = PyMapping_GetItemString(keywords, "callback");
  if (callback == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_KeyError)) return -1;
    PyErr_Clear();
  } else {
    if (callback != Py_None && !PyCallable_Check(callback)) {
      PyErr_Format(PyExc_TypeError, "callback must be callable, not %R",
                   (PyObject*)Py_TYPE(callback));
      Py_DECREF(callback);
      return -1;
    }
    if (callback != Py_None) {
      Py_INCREF(callback);
      read->callback = callback;
    }
    Py_DECREF(callback);
    if (PyDict_DelItemString(keywords, "callback") != 0) return -1;
  }
  if (take_flag(keywords, "serial", &read->is_serial) != 0) return -1;
  return take_flag(keywords, "interest", &read->has_interest);
}

// The set with its handle, in the list of the provider.
static published_set* publish(ProviderObject* self, const description* read, const adding* how) {
  mb_callback_options options = MB_CALLBACK_OPTIONS_INIT;
  published_set* const set = new_set(read);
  mb_provider* const provider = self->handle;
  callback_context* context = NULL;
  mb_set* handle = NULL;
  mb_status status;
  mb_error error;
  if (set == NULL) return NULL;
  if (how->callback != NULL && (context = new_context(how->callback, set)) == NULL) goto failed;
  options.flags = how->is_serial ? MB_CALLBACK_SERIAL : 0;
  Py_BEGIN_ALLOW_THREADS if (context != NULL || how->has_interest) {
    status = mb_provider_add_callback(provider, &read->set, context == NULL ? NULL : answer_request,
                                      context, &options, &handle, &error);
  }
  else {
    status = mb_provider_add(provider, &read->set, &handle, &error);
  }
  Py_END_ALLOW_THREADS if (status != MB_OK) {
    if (context != NULL) {
      clear_context(context);
      free_context(context);
    }
    raise_error(&error);
    goto failed;
  }
  set->is_open = true;
  set->handle = handle;
  set->context = context;
  set->next = self->sets;
  self->sets = set;
  return set;
failed:
  release_set(set);
  return NULL;
}

static PyObject* add_described(ProviderObject* self, PyObject* object, const adding* how) {
  description read;
  published_set* set = NULL;
  if (read_description(object, &read) != 0) return NULL;
  if (self->state != PROVIDER_OPEN) {
    raise_closed("provider");
  } else if (how->callback != NULL && callbacks_have_ended()) {
    raise_status(MB_CLOSED, "", "the interpreter is ending");
  } else {
    set = publish(self, &read, how);
  }
  free_description(&read);
  return set == NULL ? NULL : new_registration(self, set);
}

static PyObject* provider_add(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* const members = keywords == NULL ? PyDict_New() : PyDict_Copy(keywords);
  const Py_ssize_t count = PyTuple_Size(arguments);
  PyObject* result = NULL;
  adding how = {NULL, false, false};
  if (members == NULL) return NULL;
  if (read_adding(members, &how) != 0) {
    // an exception
  } else if (count > 1 || (count == 1 && PyDict_Size(members) != 0)) {
    PyErr_SetString(PyExc_TypeError,
                    "add() takes one description of a set, or its members as keywords");
  } else {
    PyObject* const described = count == 1 ? PyTuple_GetItem(arguments, 0) : members;
    result = add_described((ProviderObject*)self, described, &how);
  }
  Py_XDECREF(how.callback);
  Py_DECREF(members);
  return result;
}

static PyObject* get_record(PyObject* object, void* unused) {
  const ProviderObject* const self = (const ProviderObject*)object;
  char path[4096];
  mb_error error;
  (void)unused;
  if (self->state != PROVIDER_OPEN) return raise_closed("provider");
  if (mb_provider_record(self->handle, path, sizeof path, &error) != MB_OK) {
    return raise_error(&error);
  }
  return PyUnicode_DecodeFSDefault(path);
}
static PyObject* get_is_disabled(PyObject* object, void* unused) {
  const ProviderObject* const self = (const ProviderObject*)object;
  (void)unused;
  return PyBool_FromLong(self->state == PROVIDER_OPEN && self->handle == NULL);
}
static PyObject* get_is_closed(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(((ProviderObject*)self)->state != PROVIDER_OPEN);
}

static PyMethodDef methods[] = {
    {"add", KEYWORDS(provider_add), METH_VARARGS | METH_KEYWORDS,
     "add(counterset, *, callback=None, serial=False, interest=False) -> Registration\n\n"
     "Publishes a set: a Counterset, a dict, or its members as keywords. `callback(request)`\n"
     "computes rows when a reader asks, on a thread of the library; `serial`: one call at a time.\n"
     "`interest`: the set knows whether readers collect it."},
    {"close", provider_close, METH_NOARGS,
     "Ends all sets, removes the record, and waits for callbacks that run. Idempotent."},
    {"__enter__", return_self, METH_NOARGS, NULL},
    {"__exit__", provider_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"record", get_record, NULL, "The path of the record; empty if disabled", NULL},
    {"is_disabled", get_is_disabled, NULL, "It could not start, and counts into nothing", NULL},
    {"is_closed", get_is_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Provider(name, *, readers=None, directory=None, required=True, ...)\n\nAll that this process "
     "publishes under one name. `readers`: 'owner', 'group:NAME' or\n'everyone'. With "
     "required=False, a provider that cannot start says why on stderr and counts\ninto nothing."},
    {Py_tp_init, SLOT(provider_init)},
    {Py_tp_new, SLOT(PyType_GenericNew)},
    {Py_tp_dealloc, SLOT(provider_dealloc)},
    {Py_tp_finalize, SLOT(provider_finalize)},
    {Py_tp_traverse, SLOT(provider_traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL}};
static PyType_Spec spec = {"meterbank.Provider", sizeof(ProviderObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

int add_provider_type(PyObject* module) { return add_type(module, &spec) == NULL ? -1 : 0; }
