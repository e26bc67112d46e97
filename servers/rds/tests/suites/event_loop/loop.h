// SPDX-License-Identifier: Apache-2.0
/* An event loop for hiredis' tests, which want adapters that its package on PyPI does not have: one that is
 * polled, and one for libevent. Here both are poll(2), each for a single client. */
#ifndef SUITES_LOOP_H
#define SUITES_LOOP_H

#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "async.h"

/* What a client waits for. `due` is 0 when no time is set. */
struct loop_client {
    redisAsyncContext *context;
    short events;
    double due;
    /* Its context is no more. Whoever holds on to this frees it then. */
    int gone;
    int held;
};

static double loop_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void loop_add_read(void *data) {
    ((struct loop_client *)data)->events |= POLLIN;
}

static void loop_del_read(void *data) {
    ((struct loop_client *)data)->events &= ~POLLIN;
}

static void loop_add_write(void *data) {
    ((struct loop_client *)data)->events |= POLLOUT;
}

static void loop_del_write(void *data) {
    ((struct loop_client *)data)->events &= ~POLLOUT;
}

static void loop_schedule(void *data, struct timeval after) {
    ((struct loop_client *)data)->due = loop_now() + after.tv_sec + after.tv_usec / 1e6;
}

static void loop_release(struct loop_client *client) {
    client->held--;
    if (client->gone && client->held == 0)
        free(client);
}

static void loop_cleanup(void *data) {
    struct loop_client *client = data;
    client->gone = 1;
    client->held++;
    loop_release(client);
}

static struct loop_client *loop_attach(redisAsyncContext *context) {
    struct loop_client *client = calloc(1, sizeof(*client));
    if (client == NULL || context->ev.data != NULL)
        abort();
    client->context = context;
    context->ev.data = client;
    context->ev.addRead = loop_add_read;
    context->ev.delRead = loop_del_read;
    context->ev.addWrite = loop_add_write;
    context->ev.delWrite = loop_del_write;
    context->ev.cleanup = loop_cleanup;
    context->ev.scheduleTimer = loop_schedule;
    return client;
}

/* Waits at most so many seconds, and lets the client do what there is to do. */
static void loop_tick(struct loop_client *client, double seconds) {
    client->held++;
    if (client->due != 0 && client->due - loop_now() < seconds)
        seconds = client->due - loop_now();
    struct pollfd wanted = {.fd = client->context->c.fd, .events = client->events};
    int count = poll(&wanted, 1, seconds > 0 ? (int)(seconds * 1000) + 1 : 0);
    /* An error is told to whoever waits. */
    if (count > 0 && (wanted.revents & (POLLERR | POLLHUP)))
        wanted.revents |= wanted.events;
    if (count > 0 && (wanted.revents & POLLIN))
        redisAsyncHandleRead(client->context);
    if (!client->gone && count > 0 && (wanted.revents & POLLOUT))
        redisAsyncHandleWrite(client->context);
    if (!client->gone && client->due != 0 && client->due <= loop_now()) {
        client->due = 0;
        redisAsyncHandleTimeout(client->context);
    }
    loop_release(client);
}

#endif
