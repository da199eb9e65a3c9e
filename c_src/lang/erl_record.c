/* erl_record.c - records of Erlang: their definitions, and the fields that clauses read.
 *
 * A record that D defines is the same in the whole program, wherever its definition stands. Any
 * other may be a different one in each module, so that each clause has its own: when the image is
 * made, its creator asks a node what the records of the clause's modules are (compile_fields).
 *
 * The program's records have numbers, by which the image and the node name them. */
#include "lang/check.h"

#include <string.h>

#include "util/buftext.h"
#include "util/render.h"

enum { SHOWN = 20 /* fields in a message */ };

const char *record_name_fault(const char *name)
{
    const int n = check_characters(name);
    return n < 0               ? "must be text in UTF-8"
           : n > LANG_ATOM_MAX ? "is too long: an atom has at most 255 characters"
                               : NULL;
}

struct lang_record *record_find(const struct lang *l, const char *name)
{
    struct lang_record *r = l->records;
    while (r && !(r->in_d && strcmp(r->name, name) == 0))
        r = r->next;
    return r;
}

static bool same(const struct lang_record *a, const struct lang_record *b)
{
    if (strcmp(a->name, b->name) != 0 || a->nfields != b->nfields)
        return false;
    for (uint32_t i = 0; i < a->nfields; i++)
        if (strcmp(a->field[i], b->field[i]) != 0)
            return false;
    return true;
}

struct lang_record *record_add(struct lang *l, const struct lang_record *like)
{
    for (struct lang_record *r = l->records; r; r = r->next)
        if (r->in_d == like->in_d && same(r, like))
            return r;
    struct lang_record *r = lang_alloc(l, sizeof *r);
    *r = *like;
    r->next = NULL;
    *l->record_tail = r;
    l->record_tail = &r->next;
    return r;
}

void record_number(struct lang *l, struct lang_record *r, const struct diag_pos *pos)
{
    if (r->number != 0)
        return;
    if (l->nrecords == LANG_RECORDS_MAX || l->record_fields + r->nfields > LANG_FIELDS_MAX)
        lang_fail(l, pos, "D_RECORD_NAME", NULL,
                  "%s is one too many: a program has at most %d records, of %d fields together",
                  r->name, LANG_RECORDS_MAX, LANG_FIELDS_MAX);
    r->number = ++l->nrecords;
    l->record_fields += r->nfields;
}

void decl_record(struct lang *l, const struct lang_record *like)
{
    struct lang_record *r = record_find(l, like->name);
    if (r && !same(r, like)) {
        lang_err(l, &like->pos, "D_RECORD_REDEF",
                 lang_printf(l, "it is defined in %s, line %d", r->pos.file, r->pos.line),
                 "the record %s is defined with other fields already", like->name);
        return;
    }
    if (!r)
        r = record_add(l, like);
    if (!like->library) /* its fields may have to be redacted, whoever reads them */
        record_number(l, r, &like->pos);
}

/* Returns the fields in words: "id, price, items". */
static const char *in_words(struct lang *l, const struct lang_record *r)
{
    struct buf *b = &l->part;
    buf_reset(b);
    for (uint32_t i = 0; i < r->nfields && i < SHOWN; i++) {
        buf_adds(b, i > 0 ? ", " : "");
        buf_adds(b, r->field[i]);
    }
    buf_adds(b, r->nfields == 0 ? "no fields" : r->nfields > SHOWN ? " ..." : "");
    if (b->oom)
        lang_nomem(l);
    return lang_strndup(l, buf_str(b), b->len);
}

bool record_settle(struct lang *l, struct lang_field *f, struct lang_record *r)
{
    for (uint32_t i = 0; i < r->nfields; i++) {
        if (strcmp(r->field[i], f->name) != 0)
            continue;
        record_number(l, r, &f->pos);
        f->of = r;
        f->at = i + 2; /* the first element is the name */
        return true;
    }
    const char *near = diag_nearest(f->name, (const char **)(uintptr_t)r->field, r->nfields);
    lang_err(l, &f->pos, "D_RECORD_FIELD", near ? lang_printf(l, "did you mean '%s'?", near) : NULL,
             "'%s' is not a field of the record %s, which has %s", f->name, r->name,
             in_words(l, r));
    return false;
}

/* -- when the image is made -------------------------------------------------------------------- */

bool lang_asks(const struct lang *l)
{
    for (const struct lang_field *f = l->fields; f; f = f->next)
        for (const struct lang_desc *d = f->descs; !f->of && d; d = d->next)
            if (d->mod[0] != '\0' && !record_find(l, f->record))
                return true;
    return false;
}

/* Takes over what the node says of a record. */
static struct lang_record *told(struct lang *l, const struct lang_field *f,
                                const struct lang_told *told)
{
    const char **field = lang_alloc(l, (told->nfields + 1) * sizeof *field);
    for (uint32_t i = 0; i < told->nfields; i++)
        field[i] = lang_strndup(l, told->field[i], strlen(told->field[i]));
    const struct lang_record like = {
        .name = f->record, .pos = f->pos, .field = field, .nfields = told->nfields};
    return record_add(l, &like);
}

static void settle(struct lang *l, struct lang_field *f, lang_ask_fn *ask, void *arg)
{
    struct lang_told answer = {0};
    struct lang_record *r = record_find(l, f->record);
    if (f->of)
        return;
    if (!r && !ask)
        lang_err(l, &f->pos, "D_RECORD_UNDEF",
                 lang_printf(l, "define it: record %s { %s, ... };", f->record, f->name),
                 "the record %s is not defined", f->record);
    else if (!r && !ask(arg, f, &answer))
        l->errors++;
    else
        record_settle(l, f, r ? r : told(l, f, &answer));
}

int lang_settle(struct lang *l, lang_ask_fn *ask, void *arg)
{
    int caught = setjmp(l->trap);
    if (caught != 0)
        return caught == LANG_TRAP_NOMEM ? ET_ENOMEM : ET_ECOMPILE;
    l->errors = 0;
    for (struct lang_field *f = l->fields; f && l->errors < DIAG_MAX_ERRORS; f = f->next)
        settle(l, f, ask, arg);
    return l->errors == 0 ? 0 : ET_ECOMPILE;
}

const struct lang_record *lang_record(const struct lang *l, uint32_t number)
{
    const struct lang_record *r = l->records;
    while (r && r->number != number)
        r = r->next;
    return r;
}
