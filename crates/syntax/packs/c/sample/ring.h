#ifndef RING_H
#define RING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The most entries of one ring. — „Ring“ */
#define RING_MOST 64
#define RING_NEXT(at, size) (((at) + 1) % (size))

/** What a ring holds. */
typedef struct ring_entry {
    const char *name;
    unsigned flags : 3, kind;
    union { long number; void *pointer; } value;
} ring_entry;

enum ring_state { RING_EMPTY, RING_FULL = 2 };

struct ring;
typedef int (*ring_visit)(const ring_entry *entry, void *data);

/* Makes one. */
struct ring *ring_new(size_t size);
int ring_put(struct ring *ring, const ring_entry *entry);
static inline int ring_ok(int code) { return code == 0; }

#ifdef __cplusplus
}
#endif
#endif
