/* members.c - see members.h. */
#include "cluster/members.h"

#include <string.h>

#include "base/err.h"

enum {
    PART = 8,       /* one member of so many is placed at once */
    PART_LEAST = 16 /* in a cluster of fewer, one at a time */
};

void members_init(struct members *m)
{
    *m = (struct members){.index = HASH_INIT};
    arena_init(&m->arena);
}

void members_free(struct members *m)
{
    hash_free(&m->index);
    et_free(m->list);
    arena_free(&m->arena);
}

/* Returns whether this can be the whole name of a node. It comes from a node, and is shown. */
static bool is_name(const char *name)
{
    const char *at = strchr(name, '@');
    if (at == NULL || at == name || at[1] == '\0' || strlen(name) > MEMBER_NAME)
        return false;
    for (const char *p = name; *p != '\0'; p++)
        if ((unsigned char)*p <= ' ' || *p == 127)
            return false;
    return true;
}

static struct member *add(struct members *m, const char *name, uint64_t now)
{
    if (m->n == m->cap) {
        const size_t cap = m->cap > 0 ? 2 * m->cap : 16;
        struct member *list = et_rearray(m->list, cap, sizeof *list);
        if (list == NULL)
            return NULL;
        m->list = list;
        m->cap = cap;
    }
    const char *kept = arena_strdup(&m->arena, name);
    if (kept == NULL || hash_puts(&m->index, kept, (void *)(uintptr_t)(m->n + 1)) != 0)
        return NULL;
    m->list[m->n] = (struct member){.name = kept, .since = now, .due = now};
    return &m->list[m->n++];
}

int members_heard(struct members *m, const char *name, uint64_t now)
{
    const uintptr_t number = (uintptr_t)hash_gets(&m->index, name);
    struct member *one = number > 0 ? &m->list[number - 1] : NULL;
    if (one == NULL && (m->n == MEMBERS_MOST || !is_name(name))) {
        m->left_out++;
        return 0;
    }
    if (one == NULL && (one = add(m, name, now)) == NULL)
        return ET_ENOMEM;
    one->heard = now;
    return 0;
}

static bool is_there(const struct member *one, uint64_t now)
{
    return one->heard > 0 && now - one->heard <= MEMBER_RECENT;
}

size_t members_width(const struct members *m, uint64_t now)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->list[i].state != MEMBER_WAITING || is_there(&m->list[i], now);
    return n < PART_LEAST ? 1 : n / PART;
}

static void becomes(struct members *m, struct member *one, enum member_state state, uint64_t now)
{
    m->placing += (size_t)(state == MEMBER_PLACING) - (size_t)(one->state == MEMBER_PLACING);
    m->traced += (size_t)(state == MEMBER_TRACED) - (size_t)(one->state == MEMBER_TRACED);
    one->state = state;
    one->since = now;
}

bool members_next(struct members *m, uint64_t now, size_t *which, uint32_t *attempt)
{
    if (m->placing + m->traced == m->n || m->placing >= members_width(m, now))
        return false;
    for (size_t i = 0; i < m->n; i++) {
        const size_t k = (m->at + i) % m->n;
        struct member *one = &m->list[k];
        if (one->state != MEMBER_WAITING || one->due > now || !is_there(one, now))
            continue;
        becomes(m, one, MEMBER_PLACING, now);
        m->at = k + 1;
        *which = k;
        *attempt = ++one->attempt;
        return true;
    }
    return false;
}

/* Returns the member if its latest attempt is this one, and it is in this state; else NULL. */
static struct member *of(struct members *m, size_t which, uint32_t attempt, enum member_state state)
{
    struct member *one = which < m->n ? &m->list[which] : NULL;
    return one != NULL && one->attempt == attempt && one->state == state ? one : NULL;
}

bool members_placed(struct members *m, size_t which, uint32_t attempt, uint64_t now)
{
    struct member *one = of(m, which, attempt, MEMBER_PLACING);
    if (one == NULL)
        return false;
    becomes(m, one, MEMBER_TRACED, now);
    return true;
}

/* Lets a member wait for a pause, and for a word that it is there. */
static void rest(struct members *m, struct member *one, uint64_t ns, uint64_t now)
{
    one->heard = 0;
    one->due = now + ns;
    one->pause = 2 * ns < MEMBER_LAST ? 2 * ns : MEMBER_LAST;
    becomes(m, one, MEMBER_WAITING, now);
}

bool members_failed(struct members *m, size_t which, uint32_t attempt, bool final, uint64_t now)
{
    struct member *one = of(m, which, attempt, MEMBER_PLACING);
    if (one == NULL)
        return false;
    rest(m, one, final ? MEMBER_LAST : one->pause > 0 ? one->pause : MEMBER_FIRST, now);
    return true;
}

bool members_lost(struct members *m, size_t which, uint32_t attempt, uint64_t now)
{
    struct member *one = of(m, which, attempt, MEMBER_TRACED);
    if (one == NULL)
        return false;
    const bool first = one->pause == 0 || now - one->since >= MEMBER_STEADY;
    rest(m, one, first ? MEMBER_FIRST : one->pause, now);
    return true;
}
