/* kfield.c - see kfield.h. */
#include "linux/kfield.h"

#include <string.h>

enum { NAME_MOST = 64, FIRST_WORD = 4 /* bytes that are read of a structure or an array */ };

static const struct {
    const char *of, *path;
} fields[KFIELDS] = {
#define X(name, of, path) {#of, path},
    KMEM_FIELDS(X)
#undef X
};

/* Adds a hop to a member. Returns false if there is no such member, or it lies too far away. */
static bool hop(struct kfield *f, const struct kbtf *types, uint32_t of, const char *name,
                size_t len, struct kbtf_member *m)
{
    char text[NAME_MOST];
    if (len >= sizeof text || f->n == KMEM_HOPS)
        return false;
    memcpy(text, name, len);
    text[len] = '\0';
    if (!kbtf_path(types, of, text, m) || m->bits != 0 || m->bit / 8 > UINT16_MAX)
        return false;
    f->off[f->n++] = (uint16_t)(m->bit / 8);
    return true;
}

static bool find(struct kfield *f, const struct kbtf *types, const char *of, const char *path)
{
    uint32_t at = kbtf_find(types, KBTF_STRUCT, of);
    struct kbtf_member m;
    struct kbtf_scalar is;
    f->is_address = *path == '&';
    path += f->is_address;
    for (;;) {
        const char *arrow = strstr(path, "->");
        if (!hop(f, types, at, path, arrow != NULL ? (size_t)(arrow - path) : strlen(path), &m))
            return false;
        if (arrow == NULL)
            break;
        at = kbtf_target(types, kbtf_resolve(types, m.type));
        path = arrow + strlen("->");
    }
    const bool scalar = kbtf_scalar(types, m.type, &is);
    f->size = (uint8_t)(scalar ? is.size : FIRST_WORD);
    f->is_signed = !scalar || is.is_signed;
    return true;
}

void kfields_fill(struct kfield field[KFIELDS], const struct kbtf *types)
{
    for (unsigned i = 0; i < KFIELDS; i++) {
        field[i] = (struct kfield){0};
        if (!find(&field[i], types, fields[i].of, fields[i].path))
            field[i].n = 0;
    }
}
