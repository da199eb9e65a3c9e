/* symbol.c - stacks and addresses as text. A stack is 8-byte return addresses up to the first 0,
 * after the process id if it is a user's; see dif/kinds.list. */
#include "result/symbol.h"
#include "util/buftext.h"
#include "util/elixir.h"

#include <inttypes.h>
#include <string.h>

enum { WORD = 8, INDENT = 14 };
enum { STACKFORM_FOLDED = 1 }; /* the second word of the option */

/* Which parts of a symbol are shown. */
enum shown { SHOW_OBJECT, SHOW_FUNCTION, SHOW_OFFSET };

static uint64_t word_at(const struct value *v, size_t nth)
{
    uint64_t w = 0;
    if (v->len >= WORD && nth <= v->len / WORD - 1)
        memcpy(&w, v->s + nth * WORD, WORD); /* little-endian, as records are */
    return w;
}

static void put(const struct symbols *s, uint64_t pid, uint64_t address, enum shown shown,
                struct buf *out)
{
    struct tier_symbol sym = {0};
    if (s == NULL || s->find == NULL || !s->find(s->arg, pid, address, &sym) ||
        sym.object == NULL) {
        buf_printf(out, "0x%" PRIx64, sym.address != 0 ? sym.address : address);
        return;
    }
    if (sym.whole) {
        buf_adds(out, sym.function);
        if (sym.line > 0 && shown == SHOW_OFFSET)
            buf_printf(out, " (%s:%" PRIu32 ")", sym.file, sym.line);
        return;
    }
    const char *slash = pid != 0 ? strrchr(sym.object, '/') : NULL;
    const char *object = slash != NULL ? slash + 1 : sym.object;
    if (pid != 0 && s->opt != NULL && option_on(s->opt, OPTION_noresolve) && shown != SHOW_OBJECT)
        buf_printf(out, "%s:0x%" PRIx64, object, sym.object_offset);
    else if (shown == SHOW_OBJECT)
        buf_adds(out, object);
    else if (sym.function == NULL)
        buf_printf(out, "%s`0x%" PRIx64, object, address);
    else if (shown == SHOW_FUNCTION || sym.offset == 0)
        buf_printf(out, "%s`%s", object, sym.function);
    else
        buf_printf(out, "%s`%s+0x%" PRIx64, object, sym.function, sym.offset);
}

int64_t symbol_indent(const struct symbols *s)
{
    return s != NULL && s->opt != NULL ? s->opt->value[OPTION_stackindent] : INDENT;
}

void symbol_address(const struct symbols *s, uint64_t pid, uint64_t address, struct buf *out)
{
    put(s, pid, address, SHOW_OFFSET, out);
}

void symbol_text(const struct symbols *s, const struct value *v, struct buf *out)
{
    static const enum shown shown[DIF_NKINDS] = {
        [DIF_SYM] = SHOW_FUNCTION,  [DIF_FUNC] = SHOW_FUNCTION,  [DIF_MOD] = SHOW_OBJECT,
        [DIF_USYM] = SHOW_FUNCTION, [DIF_UFUNC] = SHOW_FUNCTION, [DIF_UMOD] = SHOW_OBJECT,
        [DIF_UADDR] = SHOW_OFFSET,
    };
    bool user = v->kind >= DIF_USYM;
    put(s, user ? word_at(v, 0) : 0, word_at(v, user), shown[v->kind], out);
}

bool symbol_frame(const struct symbols *s, const struct value *v, size_t nth, struct buf *out)
{
    bool user = v->kind != DIF_STACK;
    uint64_t pc = word_at(v, nth + user);
    if (pc != 0)
        put(s, user ? word_at(v, 0) : 0, pc, SHOW_OFFSET, out);
    return pc != 0;
}

/* Gives the modules in a text the names that Elixir has for them, if that is asked for. */
static void show_as(struct buf *text, unsigned show)
{
    if ((show & SHOW_ELIXIR) == 0 || !elixir_has(buf_str(text), text->len))
        return;
    struct buf named = BUF_INIT;
    elixir_put(&named, buf_str(text), text->len);
    buf_reset(text);
    buf_add(text, named.data, named.len);
    text->oom |= named.oom;
    buf_free(&named);
}

size_t symbol_depth(const struct value *v)
{
    size_t user = v->kind != DIF_STACK, n = 0;
    while (word_at(v, n + user) != 0)
        n++;
    return n;
}

bool symbol_place(const struct symbols *s, const struct value *v, size_t nth, unsigned show,
                  struct symbol_place *place)
{
    bool user = v->kind != DIF_STACK;
    uint64_t pc = word_at(v, nth + user);
    buf_reset(&place->name);
    place->file = NULL;
    place->line = 0;
    if (pc == 0)
        return false;
    const uint64_t pid = user ? word_at(v, 0) : 0;
    struct tier_symbol sym = {0};
    put(s, pid, pc, SHOW_FUNCTION, &place->name);
    show_as(&place->name, show);
    place->known = s != NULL && s->find != NULL && s->find(s->arg, pid, pc, &sym) && sym.whole;
    if (place->known && sym.line > 0) {
        place->file = sym.file;
        place->line = sym.line;
    }
    return true;
}

bool symbol_folded(const struct symbols *s)
{
    return s != NULL && s->opt != NULL && s->opt->value[OPTION_stackform] == STACKFORM_FOLDED;
}

/* The readers split a line at each ';', and take numbers after a blank at its end for values. */
void symbol_fold_text(const char *text, size_t n, struct buf *out)
{
    size_t before = out->len;
    buf_visible(out, text, n, false);
    for (size_t i = before; i < out->len; i++)
        out->data[i] = out->data[i] == ';' ? ':' : out->data[i] == ' ' ? '_' : out->data[i];
}

void symbol_fold(const struct symbols *s, const struct value *v, unsigned show, struct buf *out)
{
    struct symbol_place place = {.name = BUF_INIT};
    size_t depth = symbol_depth(v);
    if (depth == 0)
        symbol_fold_text(SYMBOL_NO_STACK, strlen(SYMBOL_NO_STACK), out);
    for (size_t i = depth; i-- > 0;) {
        symbol_place(s, v, i, show, &place);
        symbol_fold_text(buf_str(&place.name), place.name.len, out);
        if (i > 0)
            buf_addc(out, ';');
    }
    out->oom |= place.name.oom;
    buf_free(&place.name);
}

void symbol_stack(const struct symbols *s, const struct value *v, int64_t indent, size_t width,
                  unsigned show, struct buf *out)
{
    struct buf frame = BUF_INIT;
    for (size_t i = 0; symbol_frame(s, v, i, &frame); i++, buf_reset(&frame)) {
        show_as(&frame, show);
        buf_fill(out, ' ', indent > 0 ? (size_t)indent : 0);
        buf_fill(out, ' ', width > frame.len ? width - frame.len : 0);
        buf_add(out, frame.data, frame.len);
        buf_addc(out, '\n');
    }
    out->oom |= frame.oom;
    buf_free(&frame);
}
