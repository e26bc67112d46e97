/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock for a server under callgrind (callgrind.py), which is loaded before libc. For workers, 256 times less time
 * has passed since the first look at it: an instruction takes so much longer there, by the machine. Without this, what
 * a worker does by the clock would come more often, and requests be divided into more turns, on a slow machine.
 *
 * Other threads, which wait until a moment, need the kernel's time. A look takes one system call, as a look at libc's
 * clock does there.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOWER 256
#define NANOS 1000000000LL

static atomic_llong begun;
static _Thread_local enum { UNKNOWN, WORKER, OTHER } kind;

static int is_worker(void) {
    if (kind == UNKNOWN) {
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof name);
        kind = strncmp(name, "worker", 6) == 0 ? WORKER : OTHER;
    }
    return kind == WORKER;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int code = (int)syscall(SYS_clock_gettime, clock, now);
    if (code != 0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE) || !is_worker()) return code;
    long long nanos = now->tv_sec * NANOS + now->tv_nsec, first = 0;
    if (atomic_compare_exchange_strong(&begun, &first, nanos)) first = nanos;
    long long slow = first + (nanos - first) / SLOWER;
    now->tv_sec = slow / NANOS;
    now->tv_nsec = slow % NANOS;
    return 0;
}
