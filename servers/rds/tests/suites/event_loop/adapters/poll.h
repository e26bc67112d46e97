// SPDX-License-Identifier: Apache-2.0
/* The adapter that is polled. */
#ifndef SUITES_POLL_H
#define SUITES_POLL_H

#include "../loop.h"

static int redisPollAttach(redisAsyncContext *context) {
    loop_attach(context);
    return REDIS_OK;
}

static void redisPollTick(redisAsyncContext *context, double seconds) {
    loop_tick(context->ev.data, seconds);
}

#endif
