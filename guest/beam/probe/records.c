/* records.c - see records.h. */
#include "beam/probe/records.h"

#include <string.h>

#include "beam/probe/term.h"

/* Reads a name in UTF-8. */
static const char *atom_of(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *atom, char *text)
{
    ErlNifBinary b;
    if (!enif_inspect_binary(env, t, &b) || b.size >= TERM_ATOM ||
        memchr(b.data, 0, b.size) != NULL)
        return "the name of a record or of a field is not a text";
    memcpy(text, b.data, b.size);
    text[b.size] = '\0';
    return term_make_atom(env, text, atom) ? NULL : "a record or a field has a name that cannot be";
}

static const char *take(ErlNifEnv *env, struct arena *arena, ERL_NIF_TERM list,
                        const struct terms_view *v, uint32_t *left, struct known_record *r)
{
    char text[TERM_ATOM];
    ERL_NIF_TERM head;
    unsigned n;
    if (!enif_get_list_length(env, list, &n) || n == 0)
        return "a record is not a list of names";
    if (n - 1 > *left)
        return "the records have too many fields";
    *left -= n - 1;
    r->size = (int)n;
    r->field = arena_array(arena, n, sizeof *r->field);
    if (r->field == NULL)
        return "out of memory";
    enif_get_list_cell(env, list, &head, &list);
    const char *wrong = atom_of(env, head, &r->name, text);
    for (unsigned i = 0; wrong == NULL && enif_get_list_cell(env, list, &head, &list); i++) {
        wrong = atom_of(env, head, &r->field[i].name, text);
        if (wrong == NULL)
            r->field[i].hidden = redact_name(v, text, strlen(text), &(uint64_t){0});
    }
    return wrong;
}

static int compare(const struct known_record *a, ERL_NIF_TERM name, int size)
{
    return a->name != name ? (a->name > name) - (a->name < name)
                           : (a->size > size) - (a->size < size);
}

/* Inserts a record into the order by name and size. Of several that no tuple can tell apart, which
 * are records of several modules, one is in it, and all hide what one of them hides. */
static void insert(struct known_records *all, struct known_record *r)
{
    uint32_t i = all->nsorted;
    while (i > 0 && compare(all->sorted[i - 1], r->name, r->size) > 0)
        i--;
    if (i > 0 && compare(all->sorted[i - 1], r->name, r->size) == 0) {
        struct known_record *first = all->sorted[i - 1];
        for (int k = 0; k < r->size - 1; k++)
            first->field[k].hidden = first->field[k].hidden || r->field[k].hidden;
        return;
    }
    memmove(&all->sorted[i + 1], &all->sorted[i], (all->nsorted - i) * sizeof *all->sorted);
    all->sorted[i] = r;
    all->nsorted++;
}

const char *records_take(ErlNifEnv *env, struct arena *arena, ERL_NIF_TERM list,
                         struct terms_view *v)
{
    struct known_records *all = &v->records;
    uint32_t left = RECORDS_FIELDS;
    ERL_NIF_TERM head;
    unsigned n;
    if (!enif_get_list_length(env, list, &n))
        return "the records are not a list";
    if (n > RECORDS_MOST)
        return "the program has too many records";
    all->v = arena_array(arena, n + 1, sizeof *all->v);
    all->sorted = arena_array(arena, n + 1, sizeof *all->sorted);
    if (all->v == NULL || all->sorted == NULL)
        return "out of memory";
    while (enif_get_list_cell(env, list, &head, &list)) {
        const char *wrong = take(env, arena, head, v, &left, &all->v[all->n]);
        if (wrong != NULL)
            return wrong;
        insert(all, &all->v[all->n++]);
    }
    return NULL;
}

bool records_old(ErlNifEnv *env, struct terms_view *v, ERL_NIF_TERM list)
{
    struct known_records *all = &v->records;
    ERL_NIF_TERM head, rest = list;
    unsigned i, next = 0;
    uint32_t n = 0;
    for (; enif_get_list_cell(env, rest, &head, &rest); next = i + 1, n++)
        if (!enif_get_uint(env, head, &i) || i < next || i >= all->n)
            return false;
    /* At no time does one count as current that is old before and after. */
    for (rest = list; enif_get_list_cell(env, rest, &head, &rest);)
        if (enif_get_uint(env, head, &i))
            atomic_store(&all->v[i].old, true);
    atomic_store(&all->nold, n);
    uint32_t k = 0;
    for (rest = list; enif_get_list_cell(env, rest, &head, &rest); k++)
        for (enif_get_uint(env, head, &i); k < i; k++)
            atomic_store(&all->v[k].old, false);
    for (; k < all->n; k++)
        atomic_store(&all->v[k].old, false);
    return true;
}

bool records_is_old(const struct terms_view *v, ERL_NIF_TERM name)
{
    if (!records_any_old(v))
        return false;
    for (uint32_t i = 0; i < v->records.n; i++)
        if (v->records.v[i].name == name &&
            atomic_load_explicit(&v->records.v[i].old, memory_order_relaxed))
            return true;
    return false;
}

const struct known_record *records_find(const struct terms_view *v, const ERL_NIF_TERM *e, int n)
{
    uint32_t from = 0, to = v != NULL && n > 0 ? v->records.nsorted : 0;
    while (from < to) {
        const uint32_t i = from + (to - from) / 2;
        const int order = compare(v->records.sorted[i], e[0], n);
        if (order == 0)
            return v->records.sorted[i];
        if (order < 0)
            from = i + 1;
        else
            to = i;
    }
    return NULL;
}
