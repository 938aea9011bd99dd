// SPDX-License-Identifier: Apache-2.0
//
// Several changes of one instance, one commit. Changes are kept here until the commit, which makes
// all of them at once with the GIL held. So other threads may count the instance meanwhile, and
// nothing has to be taken back.
#include "publish.h"

typedef struct UpdateObject {
  PyObject_HEAD InstanceObject* instance;
  change* changes;
  size_t count;
  size_t capacity;
  uint64_t stamp_ns;
  bool is_stamped;
} UpdateObject;

PyTypeObject* update_type;

PyObject* new_update(InstanceObject* instance) {
  UpdateObject* const self = (UpdateObject*)PyType_GenericAlloc(update_type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(instance);
  self->instance = instance;
  return (PyObject*)self;
}

static void forget_changes(UpdateObject* self) {
  size_t at;
  for (at = 0; at < self->count; ++at) Py_XDECREF(self->changes[at].text);  // bytes: no other code
  self->count = 0;
  self->is_stamped = false;
}

static void update_dealloc(PyObject* object) {
  UpdateObject* const self = (UpdateObject*)object;
  PyObject_GC_UnTrack(object);
  forget_changes(self);
  PyMem_Free(self->changes);
  Py_XDECREF(self->instance);
  free_object(object);
}
static int update_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((UpdateObject*)self)->instance);
  return 0;
}

// ---- Changes ------------------------------------------------------------------------------------

static int make_room(UpdateObject* self) {
  const size_t capacity = self->capacity == 0 ? 8 : self->capacity * 2;
  change* larger;
  if (self->count < self->capacity) return 0;
  larger = PyMem_Realloc(self->changes, capacity * sizeof *larger);
  if (larger == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  self->changes = larger;
  self->capacity = capacity;
  return 0;
}

static PyObject* note_change(PyObject* object, operation what, PyObject* counter, PyObject* value) {
  UpdateObject* const self = (UpdateObject*)object;
  const Py_ssize_t position = position_of(self->instance->registration->set, counter);
  writer to;
  change made;
  if (position < 0 || find_writer(self->instance, position, &to) != 0 ||
      read_change(&to, what, value, &made) != 0) {
    return NULL;
  }
  // Behind read_change(), which may have called anything.
  if (make_room(self) != 0) {
    Py_XDECREF(made.text);
    return NULL;
  }
  self->changes[self->count++] = made;
  Py_RETURN_NONE;
}

static PyObject* note_by_tuple(PyObject* self, operation what, PyObject* arguments) {
  if (PyTuple_Size(arguments) != 2) {
    PyErr_SetString(PyExc_TypeError, "takes a counter and a value");
    return NULL;
  }
  return note_change(self, what, PyTuple_GetItem(arguments, 0), PyTuple_GetItem(arguments, 1));
}

static PyObject* update_add(PyObject* self, PyObject* arguments) {
  PyObject* one;
  PyObject* result;
  if (PyTuple_Size(arguments) != 1) return note_by_tuple(self, ADD, arguments);
  one = PyLong_FromLong(1);
  if (one == NULL) return NULL;
  result = note_change(self, ADD, PyTuple_GetItem(arguments, 0), one);
  Py_DECREF(one);
  return result;
}
static PyObject* update_set(PyObject* self, PyObject* arguments) {
  return note_by_tuple(self, SET, arguments);
}
static PyObject* update_record(PyObject* self, PyObject* arguments) {
  return note_by_tuple(self, RECORD, arguments);
}
static PyObject* update_raise_to(PyObject* self, PyObject* arguments) {
  return note_by_tuple(self, RAISE, arguments);
}
static PyObject* update_lower_to(PyObject* self, PyObject* arguments) {
  return note_by_tuple(self, LOWER, arguments);
}

static PyObject* update_stamp(PyObject* object, PyObject* monotonic_ns) {
  UpdateObject* const self = (UpdateObject*)object;
  if (!self->instance->registration->set->is_stamped) {
    PyErr_SetString(PyExc_TypeError, "stamp() is for sets with stamped=True");
    return NULL;
  }
  if (!to_uint64(monotonic_ns, &self->stamp_ns)) return NULL;
  self->is_stamped = true;
  Py_RETURN_NONE;
}

// ---- Commit and abort ---------------------------------------------------------------------------

static void commit(UpdateObject* self) {
  mb_update update;
  size_t at;
  if (self->instance->registration->set->is_sharded) {
    apply_sharded(self->changes, self->count);
  } else if (self->count != 0 || self->is_stamped) {
    update = mb_update_begin(&self->instance->block);
    for (at = 0; at < self->count; ++at) apply_in_update(&self->changes[at], &update);
    // One that counts into nothing has no word for it.
    if (self->is_stamped && mb_instance_id(&self->instance->block) != UINT32_MAX) {
      mb_update_stamp(&update, self->stamp_ns);
    }
    mb_update_commit(&update);
  }
  forget_changes(self);
}

static PyObject* update_commit(PyObject* self, PyObject* unused) {
  (void)unused;
  commit((UpdateObject*)self);
  Py_RETURN_NONE;
}
static PyObject* update_abort(PyObject* self, PyObject* unused) {
  (void)unused;
  forget_changes((UpdateObject*)self);
  Py_RETURN_NONE;
}
static PyObject* update_exit(PyObject* self, PyObject* arguments) {
  const bool has_exception =
      PyTuple_Size(arguments) > 0 && PyTuple_GetItem(arguments, 0) != Py_None;
  return has_exception ? update_abort(self, NULL) : update_commit(self, NULL);
}

static PyMethodDef methods[] = {
    {"add", update_add, METH_VARARGS, "add(counter, n=1)"},
    {"set", update_set, METH_VARARGS, "set(counter, value)"},
    {"record", update_record, METH_VARARGS, "record(counter, value)"},
    {"raise_to", update_raise_to, METH_VARARGS, "raise_to(counter, value), of sharded sets"},
    {"lower_to", update_lower_to, METH_VARARGS, "lower_to(counter, value), of sharded sets"},
    {"stamp", update_stamp, METH_O,
     "stamp(monotonic_ns)\n\nWhen the values were true, of sets with stamped=True."},
    {"commit", update_commit, METH_NOARGS, "Makes all changes visible at once."},
    {"abort", update_abort, METH_NOARGS, "Forgets the changes."},
    {"__enter__", return_self, METH_NOARGS, NULL},
    {"__exit__", update_exit, METH_VARARGS, "Commits; aborts if there is an exception."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_doc, "Changes of one instance that become visible at once."},
                              {Py_tp_new, SLOT(refuse_new)},
                              {Py_tp_dealloc, SLOT(update_dealloc)},
                              {Py_tp_traverse, SLOT(update_traverse)},
                              {Py_tp_methods, methods},
                              {0, NULL}};
static PyType_Spec spec = {"meterbank.Update", sizeof(UpdateObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int add_update_type(PyObject* module) {
  update_type = add_type(module, &spec);
  return update_type == NULL ? -1 : 0;
}
