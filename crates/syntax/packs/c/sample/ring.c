#include "ring.h"
#include <stdlib.h>

static const char *names[] = { "Öse", "ring_put" };
int ring_count = 0, ring_errors;

struct ring {
    size_t size, used;
    ring_entry entries[RING_MOST];
};

static int compare(const void *left, const void *right)
{
    const ring_entry *a = left, *b = right;
    return a->name - b->name; /* ring_put does not */
}

/*
 * Makes one.
 */
struct ring *
ring_new(size_t size)
{
    struct ring *ring = calloc(1, sizeof *ring);
    if (!ring || size > RING_MOST) {
        ring_errors++;
        return NULL;
    }
    ring->size = size;
    return ring;
}

#if defined(RING_SAFE)
int ring_put(struct ring *ring, const ring_entry *entry) {
#else
int ring_put(struct ring *ring, const ring_entry *entry)
{
#endif
    for (size_t at = 0; at < ring->used; at = RING_NEXT(at, ring->size)) {
        ring_visit visit = NULL;
        if (visit && visit(&ring->entries[at], names) != 0)
            return ring_put(ring, entry);
    }
    qsort(ring->entries, ring->used, sizeof *entry, compare);
    return 0;
}

__attribute__((noinline))
void ring_each(struct ring *ring, int (*visit)(const ring_entry *), ...)
{
    (void)visit(ring->entries);
}
