// SPDX-License-Identifier: Apache-2.0
// Keeps the stacks of coroutines for the next ones, in place of mapping new ones each time. Loom makes some for every
// interleaving that it tries, and mapping and unmapping them is half of the time that a model takes.
//
//   cc -O2 -shared -fPIC -o stacks.so .ci/stacks.c
//   LD_PRELOAD=$PWD/stacks.so LOOM_MAX_PREEMPTIONS=2 MODELS    # the tests, built with `--cfg loom`
//
// A stack is what a program maps with MAP_STACK. It is kept as it was: with its guard, and not zeroed, as no stack needs
// to be. All that is kept belongs to one thread. The C library calls no function of these, so its own stacks are not kept.
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACKS_MAX 64

struct stack {
    void *bottom;
    size_t size;
    bool is_guarded, is_used;
};

static __thread struct stack stacks[STACKS_MAX];

static struct stack *find(const void *bottom, size_t size, bool is_used) {
    for (struct stack *stack = stacks; stack < stacks + STACKS_MAX; stack++)
        if (stack->size == size && stack->is_used == is_used && (bottom == NULL || stack->bottom == bottom))
            return stack;
    return NULL;
}

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    bool is_stack = flags & MAP_STACK && address == NULL;
    struct stack *kept = is_stack ? find(NULL, size, false) : NULL;
    if (kept != NULL) {
        kept->is_used = true;
        return kept->bottom;
    }
    void *mapped = (void *)syscall(SYS_mmap, address, size, protection, flags, file, offset);
    struct stack *unused = is_stack && mapped != MAP_FAILED ? find(NULL, 0, false) : NULL;
    if (unused != NULL)
        *unused = (struct stack){.bottom = mapped, .size = size, .is_used = true};
    return mapped;
}

// The guard is the lowest page, and stays.
int mprotect(void *address, size_t size, int protection) {
    for (struct stack *stack = stacks; protection == PROT_NONE && stack < stacks + STACKS_MAX; stack++)
        if (stack->bottom == address && stack->size > size) {
            if (stack->is_guarded)
                return 0;
            stack->is_guarded = syscall(SYS_mprotect, address, size, protection) == 0;
            return stack->is_guarded ? 0 : -1;
        }
    return (int)syscall(SYS_mprotect, address, size, protection);
}

int munmap(void *address, size_t size) {
    struct stack *stack = find(address, size, true);
    if (stack != NULL) {
        stack->is_used = false;
        return 0;
    }
    return (int)syscall(SYS_munmap, address, size);
}
