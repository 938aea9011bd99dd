// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

PyTypeObject* instance_type;

PyObject* new_instance(RegistrationObject* registration, PyObject* name) {
  InstanceObject* const self = (InstanceObject*)PyType_GenericAlloc(instance_type, 0);
  if (self == NULL) return NULL;
  Py_INCREF(registration);
  self->registration = registration;
  Py_INCREF(name);
  self->name = name;
  self->is_open = true;
  return (PyObject*)self;
}

static void instance_dealloc(PyObject* object) {
  InstanceObject* const self = (InstanceObject*)object;
  PyObject_GC_UnTrack(object);
  // Whatever has a copy of these structs refers to this object.
  mb_instance_free(&self->block);
  mb_sharded_free(&self->sharded);
  Py_XDECREF(self->name);
  Py_XDECREF(self->registration);
  free_object(object);
}
static int instance_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((InstanceObject*)self)->registration);
  return 0;
}

// ---- Counting -----------------------------------------------------------------------------------

static PyObject* change_counter(PyObject* self, operation what, PyObject* counter,
                                PyObject* value) {
  const InstanceObject* const instance = (const InstanceObject*)self;
  const Py_ssize_t position = position_of(instance->registration->set, counter);
  writer to;
  change made;
  if (position < 0 || find_writer(instance, position, &to) != 0 ||
      read_change(&to, what, value, &made) != 0) {
    return NULL;
  }
  apply_now(&made);
  Py_XDECREF(made.text);
  Py_RETURN_NONE;
}

static PyObject* change_by_tuple(PyObject* self, operation what, PyObject* arguments) {
  if (PyTuple_Size(arguments) != 2) {
    PyErr_SetString(PyExc_TypeError, "takes a counter and a value");
    return NULL;
  }
  return change_counter(self, what, PyTuple_GetItem(arguments, 0), PyTuple_GetItem(arguments, 1));
}

static PyObject* instance_add(PyObject* self, PyObject* arguments) {
  PyObject* one;
  PyObject* result;
  if (PyTuple_Size(arguments) != 1) return change_by_tuple(self, ADD, arguments);
  one = PyLong_FromLong(1);
  if (one == NULL) return NULL;
  result = change_counter(self, ADD, PyTuple_GetItem(arguments, 0), one);
  Py_DECREF(one);
  return result;
}
static PyObject* instance_set(PyObject* self, PyObject* arguments) {
  return change_by_tuple(self, SET, arguments);
}
static PyObject* instance_record(PyObject* self, PyObject* arguments) {
  return change_by_tuple(self, RECORD, arguments);
}
static PyObject* instance_raise_to(PyObject* self, PyObject* arguments) {
  return change_by_tuple(self, RAISE, arguments);
}
static PyObject* instance_lower_to(PyObject* self, PyObject* arguments) {
  return change_by_tuple(self, LOWER, arguments);
}

static PyObject* instance_value(PyObject* self, PyObject* counter) {
  const InstanceObject* const instance = (const InstanceObject*)self;
  const Py_ssize_t position = position_of(instance->registration->set, counter);
  writer from;
  if (position < 0 || find_writer(instance, position, &from) != 0) return NULL;
  return value_of_writer(&from);
}

// ---- What is made of it -------------------------------------------------------------------------

static PyObject* instance_counter(PyObject* self, PyObject* counter) {
  InstanceObject* const instance = (InstanceObject*)self;
  const Py_ssize_t position = position_of(instance->registration->set, counter);
  return position < 0 ? NULL : new_bound_counter(instance, position);
}
static PyObject* instance_update(PyObject* self, PyObject* unused) {
  (void)unused;
  return new_update((InstanceObject*)self);
}

static PyObject* instance_close(PyObject* object, PyObject* unused) {
  InstanceObject* const self = (InstanceObject*)object;
  (void)unused;
  self->is_open = false;
  mb_instance_close(&self->block);
  mb_sharded_close(&self->sharded);
  Py_RETURN_NONE;
}
static PyObject* instance_exit(PyObject* self, PyObject* arguments) {
  return instance_close(self, arguments);
}

static PyObject* get_name(PyObject* self, void* unused) {
  PyObject* const name = ((InstanceObject*)self)->name;
  (void)unused;
  Py_INCREF(name);
  return name;
}
static PyObject* get_id(PyObject* object, void* unused) {
  const InstanceObject* const self = (const InstanceObject*)object;
  const uint32_t id = self->registration->set->is_sharded ? mb_sharded_id(&self->sharded)
                                                          : mb_instance_id(&self->block);
  (void)unused;
  if (id == UINT32_MAX) Py_RETURN_NONE;
  return PyLong_FromUnsignedLong(id);
}
static PyObject* get_is_closed(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(!((InstanceObject*)self)->is_open);
}

static PyMethodDef methods[] = {
    {"add", instance_add, METH_VARARGS,
     "add(counter, n=1)\n\nOne commit. n may be negative for gauges."},
    {"set", instance_set, METH_VARARGS,
     "set(counter, value)\n\nOne commit. The value of a text is a str."},
    {"record", instance_record, METH_VARARGS,
     "record(counter, value)\n\nOne value of a distribution; one commit."},
    {"raise_to", instance_raise_to, METH_VARARGS,
     "raise_to(counter, value)\n\nTo at least `value`; sharded sets, counters with the aggregate "
     "'maximum'."},
    {"lower_to", instance_lower_to, METH_VARARGS,
     "lower_to(counter, value)\n\nTo at most `value`; sharded sets, counters with the aggregate "
     "'minimum'."},
    {"value", instance_value, METH_O, "value(counter)\n\nWhat a count or a gauge is now."},
    {"counter", instance_counter, METH_O,
     "counter(counter) -> BoundCounter\n\nFor code that counts often."},
    {"update", instance_update, METH_NOARGS,
     "update() -> Update\n\nwith instance.update() as u: several changes, one commit."},
    {"close", instance_close, METH_NOARGS,
     "Readers see it go. What counts it afterwards counts into nothing. Idempotent."},
    {"__enter__", return_self, METH_NOARGS, NULL},
    {"__exit__", instance_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef members[] = {
    {"name", get_name, NULL, NULL, NULL},
    {"id", get_id, NULL, "Unique among the live instances; None: it counts into nothing", NULL},
    {"is_closed", get_is_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_doc, "The values of one thing. Counting never fails; a wrong type is a TypeError."},
    {Py_tp_new, SLOT(refuse_new)},
    {Py_tp_dealloc, SLOT(instance_dealloc)},
    {Py_tp_traverse, SLOT(instance_traverse)},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL}};
static PyType_Spec spec = {"meterbank.Instance", sizeof(InstanceObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int add_instance_type(PyObject* module) {
  instance_type = add_type(module, &spec);
  return instance_type == NULL ? -1 : 0;
}
