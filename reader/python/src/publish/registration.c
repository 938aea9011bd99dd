// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

PyTypeObject* registration_type;

PyObject* new_registration(ProviderObject* provider, published_set* set) {
  RegistrationObject* const self = (RegistrationObject*)PyType_GenericAlloc(registration_type, 0);
  if (self == NULL) return NULL;  // the set stays published until its provider closes
  Py_INCREF(provider);
  self->provider = provider;
  ++set->references;
  self->set = set;
  return (PyObject*)self;
}

// What is closed is taken out of the list of the provider.
static void forget_set(RegistrationObject* self) {
  published_set** at = &self->provider->sets;
  while (*at != NULL && *at != self->set) at = &(*at)->next;
  if (*at == NULL) return;
  *at = self->set->next;
  release_set(self->set);
}

static void registration_dealloc(PyObject* object) {
  RegistrationObject* const self = (RegistrationObject*)object;
  PyObject_GC_UnTrack(object);
  if (self->set != NULL) {
    if (!self->set->is_open) forget_set(self);
    release_set(self->set);
  }
  Py_XDECREF(self->provider);
  free_object(object);
}
static int registration_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((RegistrationObject*)self)->provider);
  return 0;
}

// ---- Instances ----------------------------------------------------------------------------------

static mb_status make_instance(const published_set* set, mb_set* handle, const char* name,
                               const mb_instance_options* options, InstanceObject* instance,
                               mb_error* error) {
  mb_status status;
  const bool is_sharded = set->is_sharded;
  Py_BEGIN_ALLOW_THREADS if (options == NULL && is_sharded) {
    status = mb_set_find_sharded(handle, name, &instance->sharded, error);
  }
  else if (options == NULL) {
    status = mb_set_find_instance(handle, name, &instance->block, error);
  }
  else if (is_sharded) {
    status = mb_set_create_sharded(handle, name, options, &instance->sharded, error);
  }
  else {
    status = mb_set_create_instance(handle, name, options, &instance->block, error);
  }
  Py_END_ALLOW_THREADS return status;
}

static PyObject* create_or_find(RegistrationObject* self, PyObject* name,
                                const mb_instance_options* options) {
  PyObject* const bytes = PyUnicode_AsUTF8String(name);
  char* text = NULL;
  InstanceObject* instance = NULL;
  mb_error error;
  if (bytes == NULL) return NULL;
  if (PyBytes_AsStringAndSize(bytes, &text, NULL) != 0) {
    // an exception: a NUL inside
  } else {
    instance = (InstanceObject*)new_instance(self, name);
  }
  if (instance != NULL && !self->set->is_open) {
    Py_CLEAR(instance);
    raise_closed("registration");
  }
  if (instance != NULL &&
      make_instance(self->set, self->set->handle, text, options, instance, &error) != MB_OK) {
    Py_CLEAR(instance);
    raise_error(&error);
  }
  Py_DECREF(bytes);
  return (PyObject*)instance;
}

static PyObject* registration_create(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"name", "id", NULL};
  mb_instance_options options = MB_INSTANCE_OPTIONS_INIT;
  PyObject* name = NULL;
  PyObject* id = Py_None;
  PyObject* result;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|UO:create", names, &name, &id)) {
    return NULL;
  }
  if (id != Py_None) {
    if (!to_uint32(id, &options.id.id)) return NULL;
    options.id.is_set = 1;
  }
  if (name != NULL) return create_or_find((RegistrationObject*)self, name, &options);
  name = text_of("");
  if (name == NULL) return NULL;
  result = create_or_find((RegistrationObject*)self, name, &options);
  Py_DECREF(name);
  return result;
}

static PyObject* registration_find(PyObject* self, PyObject* name) {
  if (!PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "a name must be str, not %R", (PyObject*)Py_TYPE(name));
    return NULL;
  }
  return create_or_find((RegistrationObject*)self, name, NULL);
}

// ---- Interest -----------------------------------------------------------------------------------

static const mb_interest* interest_of(RegistrationObject* self) {
  const mb_interest* interest = NULL;
  mb_error error;
  if (!self->set->is_open) {
    raise_closed("registration");
  } else if (mb_set_interest(self->set->handle, &interest, &error) != MB_OK) {
    raise_error(&error);
  }
  return interest;
}

static PyObject* registration_wants(PyObject* object, PyObject* counter) {
  RegistrationObject* const self = (RegistrationObject*)object;
  const Py_ssize_t position = position_of(self->set, counter);
  const mb_interest* interest;
  if (position < 0) return NULL;
  interest = interest_of(self);
  if (interest == NULL && PyErr_Occurred() != NULL) return NULL;
  return PyBool_FromLong(mb_interest_wants_counter(interest, (uint32_t)position));
}
static PyObject* get_is_wanted(PyObject* self, void* unused) {
  const mb_interest* const interest = interest_of((RegistrationObject*)self);
  (void)unused;
  if (interest == NULL && PyErr_Occurred() != NULL) return NULL;
  return PyBool_FromLong(mb_interest_wanted(interest));
}

// ---- The rest -----------------------------------------------------------------------------------

static PyObject* registration_close(PyObject* self, PyObject* unused) {
  (void)unused;
  close_set(((RegistrationObject*)self)->set);
  Py_RETURN_NONE;
}
static PyObject* registration_exit(PyObject* self, PyObject* arguments) {
  return registration_close(self, arguments);
}
static PyObject* get_name(PyObject* self, void* unused) {
  PyObject* const name = ((RegistrationObject*)self)->set->name;
  (void)unused;
  Py_INCREF(name);
  return name;
}
static PyObject* get_is_closed(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(!((RegistrationObject*)self)->set->is_open);
}

static PyMethodDef methods[] = {
    {"create", KEYWORDS(registration_create), METH_VARARGS | METH_KEYWORDS,
     "create(name='', id=None) -> Instance\n\nThe instance is closed when it is not referenced any "
     "more."},
    {"find", registration_find, METH_O,
     "find(name) -> Instance\n\nA live instance, to write to; the one that was created closes it."},
    {"wants", registration_wants, METH_O,
     "wants(counter) -> bool\n\nWhether a reader collects the counter; see is_wanted."},
    {"close", registration_close, METH_NOARGS,
     "Closes all instances, and waits for callbacks that run. Idempotent."},
    {"__enter__", return_self, METH_NOARGS, NULL},
    {"__exit__", registration_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"name", get_name, NULL, "The name of the set", NULL},
    {"is_wanted", get_is_wanted, NULL,
     "Whether a reader collects the set; of sets with a callback or with interest=True", NULL},
    {"is_closed", get_is_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_doc,
     "One live declaration of a set, from Provider.add() until it or its provider closes."},
    {Py_tp_new, SLOT(refuse_new)},
    {Py_tp_dealloc, SLOT(registration_dealloc)},
    {Py_tp_traverse, SLOT(registration_traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL}};
static PyType_Spec spec = {"meterbank.Registration", sizeof(RegistrationObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int add_registration_type(PyObject* module) {
  registration_type = add_type(module, &spec);
  return registration_type == NULL ? -1 : 0;
}

int add_types_of_publishing(PyObject* module) {
  if (add_provider_type(module) != 0 || add_registration_type(module) != 0 ||
      add_instance_type(module) != 0 || add_bound_counter_type(module) != 0 ||
      add_update_type(module) != 0) {
    return -1;
  }
  return add_request_type(module);
}
