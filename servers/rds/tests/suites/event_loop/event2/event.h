// SPDX-License-Identifier: Apache-2.0
/* As much of libevent as hiredis' tests call: a loop with one client and one timer. */
#ifndef SUITES_EVENT_H
#define SUITES_EVENT_H

#include "../loop.h"

typedef void (*event_callback_fn)(int fd, short events, void *argument);

struct event {
    struct event_base *base;
    event_callback_fn callback;
    void *argument;
    double due;
};

struct event_base {
    struct loop_client *client;
    struct event *timer;
    int broken;
};

static struct event_base *event_base_new(void) {
    return calloc(1, sizeof(struct event_base));
}

static void event_base_free(struct event_base *base) {
    if (base->client != NULL)
        loop_release(base->client);
    free(base);
}

static int evtimer_assign(struct event *timer, struct event_base *base, event_callback_fn callback,
                          void *argument) {
    *timer = (struct event){.base = base, .callback = callback, .argument = argument};
    return 0;
}

static struct event *evtimer_new(struct event_base *base, event_callback_fn callback, void *argument) {
    struct event *timer = malloc(sizeof(*timer));
    if (timer != NULL)
        evtimer_assign(timer, base, callback, argument);
    return timer;
}

static int evtimer_add(struct event *timer, const struct timeval *after) {
    timer->due = loop_now() + after->tv_sec + after->tv_usec / 1e6;
    timer->base->timer = timer;
    return 0;
}

static void event_free(struct event *timer) {
    timer->base->timer = NULL;
    free(timer);
}

static int event_base_loopbreak(struct event_base *base) {
    base->broken = 1;
    return 0;
}

/* Returns 1 if there is nothing to wait for, as libevent does. */
static int event_base_dispatch(struct event_base *base) {
    base->broken = 0;
    while (!base->broken) {
        struct event *timer = base->timer;
        if (timer != NULL && timer->due <= loop_now()) {
            base->timer = NULL;
            timer->callback(-1, 0, timer->argument);
            continue;
        }
        double seconds = timer != NULL ? timer->due - loop_now() : 1;
        if (base->client != NULL && !base->client->gone)
            loop_tick(base->client, seconds);
        else if (timer != NULL)
            poll(NULL, 0, (int)(seconds * 1000) + 1);
        else
            return 1;
    }
    return 0;
}

#endif
