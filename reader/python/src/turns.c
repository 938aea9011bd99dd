// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "binding.h"

// The GIL guards turns and `waiting`; the mutex guards `ends`, and is never held while a thread
// waits for the GIL.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static uint64_t ends;  // turns that ended while a thread waited
static uint32_t waiting;
static uint64_t process = 1;

// The child has the forking thread alone, and any thread may have held the mutex.
static void begin_child(void) {
  const pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
  const pthread_cond_t free_condition = PTHREAD_COND_INITIALIZER;
  mutex = free_mutex;
  ended = free_condition;
  waiting = 0;
  ++process;
}

int prepare_turns(void) {
  static bool is_prepared;
  if (is_prepared) return 0;
  if (pthread_atfork(NULL, NULL, begin_child) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  is_prepared = true;
  return 0;
}

uint64_t this_process(void) { return process; }

static bool is_taken(const turn* taken) { return taken->process == process; }

static void wait_for_an_end(void) {
  uint64_t seen;
  pthread_mutex_lock(&mutex);
  seen = ends;
  pthread_mutex_unlock(&mutex);
  ++waiting;
  Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&mutex);
  while (ends == seen) pthread_cond_wait(&ended, &mutex);
  pthread_mutex_unlock(&mutex);
  Py_END_ALLOW_THREADS-- waiting;
}

bool take_turn(turn* taken) {
  const uint64_t thread = (uint64_t)PyThread_get_thread_ident();
  while (is_taken(taken)) {
    if (taken->thread == thread) {
      PyErr_SetString(PyExc_RuntimeError, "the object is used by this thread already");
      return false;
    }
    wait_for_an_end();
  }
  taken->process = process;
  taken->thread = thread;
  return true;
}

void end_turn(turn* taken) {
  taken->process = 0;
  if (waiting == 0) return;
  pthread_mutex_lock(&mutex);
  ++ends;
  pthread_cond_broadcast(&ended);
  pthread_mutex_unlock(&mutex);
}
