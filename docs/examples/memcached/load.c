// SPDX-License-Identifier: Apache-2.0
//
// Asks a memcached for keys as fast as it answers, and prints how many commands that were, and in
// how many seconds.
//
//   load PORT SECONDS CONNECTIONS AT_ONCE fill|mix
//
// `fill` stores each key once, whatever SECONDS says. `mix` is of 20 commands 17 gets of a key that
// is there, one get of a key that is not, one set and one delete with its set. AT_ONCE: how many
// commands a connection sends before it waits for the answers.
//
// Keys and values have fixed lengths, so the length of an answer is known when its command is sent:
// counting bytes is all that happens to answers, which leaves the server as the slower side.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 10000, VALUE_BYTES = 100, COMMAND_BYTES_MAX = 160, AT_ONCE_MAX = 64 };

typedef struct connection {
  int socket;
  size_t expected;  // bytes of answers that have not come yet
} connection;

static char value[VALUE_BYTES + 1];
static uint64_t commands;
static unsigned next_key;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// xorshift: the same sequence in each run.
static unsigned next_random(void) {
  static uint32_t state = 2463534242;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

// Each writes one command or two to `out`, adds the length of the answer, and returns how long they
// are.
static size_t put_set(char* out, unsigned key, size_t* expected) {
  *expected += strlen("STORED\r\n");
  ++commands;
  return (size_t)sprintf(out, "set key:%08u 0 0 %d\r\n%s\r\n", key, VALUE_BYTES, value);
}
static size_t put_get(char* out, unsigned key, int is_there, size_t* expected) {
  *expected += strlen("END\r\n");
  if (is_there) *expected += strlen("VALUE key:00000000 0 100\r\n") + VALUE_BYTES + strlen("\r\n");
  ++commands;
  return (size_t)sprintf(out, "get key:%08u\r\n", is_there ? key : KEYS + key);
}
static size_t put_delete(char* out, unsigned key, size_t* expected) {
  *expected += strlen("DELETED\r\n");
  ++commands;
  return (size_t)sprintf(out, "delete key:%08u\r\n", key);
}

// A connection deletes and stores keys of its own, or another one would miss them.
static size_t put_command(char* out, unsigned number, int is_fill, size_t* expected) {
  const unsigned random = next_random();
  const unsigned key = random / 32 % KEYS;
  size_t bytes;
  if (is_fill) return put_set(out, next_key++ % KEYS, expected);
  switch (random % 20) {
    case 0:
      return put_set(out, key, expected);
    case 1:
      return put_get(out, key, 0, expected);
    case 2:
      bytes = put_set(out, 2 * KEYS + number, expected);
      return bytes + put_delete(out + bytes, 2 * KEYS + number, expected);
    default:
      return put_get(out, key, 1, expected);
  }
}

static void send_commands(connection* to, unsigned number, unsigned at_once, int is_fill) {
  static char out[2 * AT_ONCE_MAX * COMMAND_BYTES_MAX];
  size_t bytes = 0, sent = 0;
  unsigned i;
  for (i = 0; i < at_once; ++i) {
    bytes += put_command(out + bytes, number, is_fill, &to->expected);
  }
  while (sent < bytes) {
    const ssize_t more = send(to->socket, out + sent, bytes - sent, MSG_NOSIGNAL);
    if (more < 0) fail("send");
    sent += (size_t)more;
  }
}

static void receive(connection* from) {
  static char in[1 << 16];
  const ssize_t bytes = recv(from->socket, in, sizeof in, 0);
  if (bytes <= 0) fail("recv");
  if ((size_t)bytes > from->expected) {
    fprintf(stderr, "load: an answer is longer than expected: %.*s\n", (int)bytes, in);
    exit(1);
  }
  from->expected -= (size_t)bytes;
}

static int connected(int port) {
  const int one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (made < 0 || connect(made, (struct sockaddr*)&address, sizeof address) != 0) fail("connect");
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return made;
}

typedef struct load {
  connection* connections;
  unsigned count;
  unsigned at_once;
  int is_fill;
  int poll;
} load;

static void connect_all(load* all, int port) {
  unsigned i;
  all->poll = epoll_create1(0);
  all->connections = calloc(all->count, sizeof *all->connections);
  if (all->connections == NULL || all->poll < 0) fail("load");
  for (i = 0; i < all->count; ++i) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = i}};
    all->connections[i].socket = connected(port);
    if (epoll_ctl(all->poll, EPOLL_CTL_ADD, all->connections[i].socket, &event) != 0) {
      fail("epoll_ctl");
    }
  }
}

// Until the last answer has come.
static void ask_until(load* all, double end) {
  unsigned busy, i;
  for (i = 0; i < all->count; ++i) {
    send_commands(&all->connections[i], i, all->at_once, all->is_fill);
  }
  for (busy = all->count; busy > 0;) {
    struct epoll_event events[64];
    const int ready = epoll_wait(all->poll, events, 64, 5000);
    const double time = now();
    int at;
    if (ready <= 0) fail("no answer within five seconds");
    for (at = 0; at < ready; ++at) {
      const unsigned number = events[at].data.u32;
      receive(&all->connections[number]);
      if (all->connections[number].expected != 0) continue;
      if (all->is_fill ? next_key < KEYS : time < end) {
        send_commands(&all->connections[number], number, all->at_once, all->is_fill);
      } else {
        --busy;
      }
    }
  }
}

int main(int argc, char** argv) {
  load all = {.count = 0};
  double seconds, begin;
  if (argc == 6) {
    all.count = (unsigned)atoi(argv[3]);
    all.at_once = (unsigned)atoi(argv[4]);
    all.is_fill = strcmp(argv[5], "fill") == 0;
  }
  if (all.count == 0 || all.at_once == 0 || all.at_once > AT_ONCE_MAX) {
    fprintf(stderr, "usage: load PORT SECONDS CONNECTIONS AT_ONCE fill|mix\n");
    return 2;
  }
  memset(value, 'v', VALUE_BYTES);
  seconds = atof(argv[2]);
  connect_all(&all, atoi(argv[1]));
  begin = now();
  ask_until(&all, begin + seconds);
  printf("%llu %.6f\n", (unsigned long long)commands, now() - begin);
  return 0;
}
