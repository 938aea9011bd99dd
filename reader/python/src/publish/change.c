// SPDX-License-Identifier: Apache-2.0
//
// What add(), set() and record() do to one counter, at once or as part of an update. All of it runs
// with the GIL held: it never waits, and the writers of an instance take turns by it.
#include <string.h>

#include "publish.h"

// ---- Which counter ------------------------------------------------------------------------------

int find_writer(const InstanceObject* instance, Py_ssize_t position, writer* found) {
  const published_set* const set = instance->registration->set;
  const struct counter_traits* const traits = &set->counters[position];
  const uint32_t at = (uint32_t)position;
  mb_status status = MB_OK;
  mb_error error;
  memset(found, 0, sizeof *found);
  found->position = at;
  found->form = traits->form;
  if (set->is_sharded) {
    found->kind = WRITES_SHARDED;
    found->at.sharded = instance->sharded;
    return 0;
  }
  found->count = mb_instance_counter(&instance->block, at);
  if (traits->form == MB_FORM_UNSIGNED && !traits->is_timed) {
    found->kind = WRITES_COUNT;
  } else if (traits->form == MB_FORM_TEXT) {
    found->kind = WRITES_TEXT;
    status = mb_instance_text(&instance->block, at, &found->at.text, &error);
  } else if (traits->form == MB_FORM_DISTRIBUTION) {
    found->kind = WRITES_RECORDER;
    status = mb_instance_recorder(&instance->block, at, &found->at.recorder, &error);
  } else {
    found->kind = WRITES_GAUGE;
    status = mb_instance_gauge(&instance->block, at, &found->at.gauge, &error);
  }
  // In the child of a fork it counts into nothing, as a plain count does.
  if (status == MB_OK || status == MB_FORKED) return 0;
  raise_error(&error);
  return -1;
}

// ---- What change --------------------------------------------------------------------------------

static const char* const operation_names[] = {"add", "set", "record", "raise_to", "lower_to"};

static int refuse_operation(const writer* to, operation what) {
  const char* const sharded = to->kind == WRITES_SHARDED ? " of a sharded set" : "";
  PyErr_Format(PyExc_TypeError, "%s() is not for %s counters%s", operation_names[what],
               name_in(value_forms, to->form), sharded);
  return -1;
}

static bool takes(const writer* to, operation what) {
  switch (to->kind) {
    case WRITES_COUNT:
    case WRITES_GAUGE:
      return what == ADD || what == SET;
    case WRITES_RECORDER:
      return what == RECORD;
    case WRITES_TEXT:
      return what == SET;
    case WRITES_SHARDED:
      return to->form == MB_FORM_DISTRIBUTION ? what == RECORD : what != RECORD && what != SET;
  }
  return false;
}

int read_change(const writer* to, operation what, PyObject* value, change* read) {
  int is_read = 0;
  if (!takes(to, what)) return refuse_operation(to, what);
  read->to = *to;
  read->what = what;
  read->bits = 0;
  read->real = 0;
  read->text = NULL;
  if (to->kind == WRITES_TEXT) {
    if (!PyUnicode_Check(value)) {
      PyErr_Format(PyExc_TypeError, "a text must be str, not %R", (PyObject*)Py_TYPE(value));
      return -1;
    }
    read->text = PyUnicode_AsUTF8String(value);
    return read->text == NULL ? -1 : 0;
  }
  if (what == RECORD || to->form == MB_FORM_REAL) {
    is_read = to_real(value, &read->real);
  } else if (what == ADD) {
    is_read = to_bits(value, &read->bits);
  } else if (to->form == MB_FORM_SIGNED) {
    int64_t number = 0;
    is_read = to_int64(value, &number);
    read->bits = (uint64_t)number;
  } else {
    is_read = to_uint64(value, &read->bits);
  }
  return is_read ? 0 : -1;
}

// What an int gauge will be. ADD wraps as counts do.
static uint64_t next_bits(const change* applied, uint64_t now) {
  return applied->what == ADD ? now + applied->bits : applied->bits;
}

// ---- At once ------------------------------------------------------------------------------------

static void change_gauge(const change* applied) {
  const mb_gauge* const gauge = &applied->to.at.gauge;
  const uint64_t bits = next_bits(applied, mb_counter_value(&applied->to.count));
  if (applied->to.form == MB_FORM_SIGNED) {
    mb_gauge_set_signed(gauge, (int64_t)bits);
  } else if (applied->to.form == MB_FORM_UNSIGNED) {
    mb_gauge_set_unsigned(gauge, bits);
  } else if (applied->what == ADD) {
    mb_gauge_add(gauge, applied->real);
  } else {
    mb_gauge_set(gauge, applied->real);
  }
}

static mb_sharded_change sharded_change_of(const change* applied) {
  static const uint32_t kinds[] = {MB_SHARDED_ADD, MB_SHARDED_ADD, MB_SHARDED_RECORD,
                                   MB_SHARDED_RAISE, MB_SHARDED_LOWER};
  mb_sharded_change made;
  made.counter = applied->to.position;
  made.kind = kinds[applied->what];
  made.amount = applied->bits;
  made.value = applied->real;
  return made;
}

void apply_sharded(const change* changes, size_t count) {
  enum { AT_ONCE = 16 };
  mb_sharded_change few[AT_ONCE];
  mb_sharded_change* all = few;
  size_t at;
  if (count == 0) return;
  if (count > AT_ONCE) all = PyMem_Calloc(count, sizeof *all);
  if (all == NULL) {  // what is counted is worth more than that it is one commit
    for (at = 0; at < count; ++at) apply_now(&changes[at]);
    return;
  }
  for (at = 0; at < count; ++at) all[at] = sharded_change_of(&changes[at]);
  mb_sharded_update(&changes->to.at.sharded, all, count);
  if (all != few) PyMem_Free(all);
}

void apply_now(const change* applied) {
  const writer* const to = &applied->to;
  switch (to->kind) {
    case WRITES_COUNT:
      if (applied->what == ADD) mb_counter_add(&to->count, applied->bits);
      if (applied->what == SET) mb_counter_set(&to->count, applied->bits);
      break;
    case WRITES_GAUGE:
      change_gauge(applied);
      break;
    case WRITES_RECORDER:
      mb_recorder_record(&to->at.recorder, applied->real);
      break;
    case WRITES_TEXT:
      mb_text_set(&to->at.text, PyBytes_AsString(applied->text),
                  (size_t)PyBytes_Size(applied->text));
      break;
    case WRITES_SHARDED:
      apply_sharded(applied, 1);
      break;
  }
}

// ---- As part of an update -----------------------------------------------------------------------

static void change_gauge_in_update(const change* applied, mb_update* update) {
  const mb_gauge* const gauge = &applied->to.at.gauge;
  const uint64_t now = mb_update_value(update, applied->to.position);
  const uint64_t bits = next_bits(applied, now);
  if (applied->to.form == MB_FORM_SIGNED) {
    mb_update_set_gauge_signed(update, gauge, (int64_t)bits);
  } else if (applied->to.form == MB_FORM_UNSIGNED) {
    mb_update_set_gauge_unsigned(update, gauge, bits);
  } else {
    double real = 0;
    memcpy(&real, &now, sizeof real);
    mb_update_set_gauge(update, gauge, applied->what == ADD ? real + applied->real : applied->real);
  }
}

void apply_in_update(const change* applied, mb_update* update) {
  const writer* const to = &applied->to;
  switch (to->kind) {
    case WRITES_COUNT:
      if (applied->what == ADD) mb_update_add(update, to->position, applied->bits);
      if (applied->what == SET) mb_update_set(update, to->position, applied->bits);
      break;
    case WRITES_GAUGE:
      change_gauge_in_update(applied, update);
      break;
    case WRITES_RECORDER:
      mb_update_record(update, &to->at.recorder, applied->real);
      break;
    case WRITES_TEXT:
      mb_update_set_text(update, &to->at.text, PyBytes_AsString(applied->text),
                         (size_t)PyBytes_Size(applied->text));
      break;
    case WRITES_SHARDED:
      break;
  }
}

// ---- Reading back -------------------------------------------------------------------------------

PyObject* value_of_writer(const writer* from) {
  const uint64_t bits = mb_counter_value(&from->count);
  double real = 0;
  if (from->kind != WRITES_COUNT && from->kind != WRITES_GAUGE) {
    PyErr_Format(PyExc_TypeError, "%s counters%s cannot be read back",
                 name_in(value_forms, from->form),
                 from->kind == WRITES_SHARDED ? " of a sharded set" : "");
    return NULL;
  }
  if (from->form == MB_FORM_SIGNED) return PyLong_FromLongLong((int64_t)bits);
  if (from->form == MB_FORM_UNSIGNED) return PyLong_FromUnsignedLongLong(bits);
  memcpy(&real, &bits, sizeof real);
  return PyFloat_FromDouble(real);
}
