/* print_type.c - the type that print() shows, as the text that result/print.c reads. */
#include "lang/check.h"
#include "util/buftext.h"

#include <string.h>

enum { DESCRIPTION_MOST = 1 << 16 };

static void describe(struct lang *l, struct buf *out, const struct type *t, const struct node *at)
{
    if (out->len > DESCRIPTION_MOST)
        lang_fail(l, &at->pos, "D_UNKNOWN", NULL, "print( ) of too complex a type: %s",
                  at->type->name);
    if (type_is_sou(t)) {
        const char *tagless = strstr(t->name, " (");
        int len = tagless ? (int)(tagless - t->name) : (int)strlen(t->name);
        buf_printf(out, "s%u,%.*s;", type_size(t), len, t->name);
        for (const struct type_member *m = lang_members(l, t); m; m = m->next) {
            buf_printf(out, "m%u,%u,%u,%s;", m->offset, m->bit, m->bits, m->name);
            describe(l, out, m->type, at);
        }
        buf_addc(out, '}');
    } else if (t->kind == TYPE_ARRAY) {
        buf_printf(out, "a%u,%s;", t->count, t->name);
        describe(l, out, t->of, at);
    } else if (t->is_enum) {
        buf_printf(out, "e%u,%s;", t->size, t->name);
        for (const struct type_enum *e = t->enums; e; e = e->next)
            buf_printf(out, "n%d,%s;", e->value, e->name);
        buf_addc(out, '}');
    } else {
        bool is_char = t->kind == TYPE_INT && t->size == 1 && t->is_signed;
        buf_printf(out, "%c%u,%s;",
                   t->kind == TYPE_STRING  ? 't'
                   : t->kind == TYPE_PTR   ? 'p'
                   : t->kind == TYPE_FLOAT ? 'f'
                   : is_char               ? 'c'
                   : t->is_signed          ? 'd'
                                           : 'u',
                   type_size(t), t->name);
    }
}

char *check_describe(struct lang *l, const struct type *t, const struct node *at)
{
    buf_reset(&l->part);
    describe(l, &l->part, t, at);
    if (l->part.oom)
        lang_nomem(l);
    return lang_strndup(l, buf_str(&l->part), l->part.len);
}
