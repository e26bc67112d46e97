// SPDX-License-Identifier: Apache-2.0
/* The adapter for what event2/event.h has here. */
#ifndef SUITES_LIBEVENT_H
#define SUITES_LIBEVENT_H

#include "../event2/event.h"

static int redisLibeventAttach(redisAsyncContext *context, struct event_base *base) {
    base->client = loop_attach(context);
    base->client->held++;
    return REDIS_OK;
}

#endif
