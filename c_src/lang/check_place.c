/* check_place.c - stacks and symbols: stack, ustack, jstack, sym, func, mod, usym, ufunc, umod,
 * uaddr (language.md 6.1, 3.6). Each is an action or a key of an aggregation; its value has no
 * other use. A checked call keeps as its argument what the engine needs: the number of frames, or
 * the address. */
#include "lang/check.h"

#include <string.h>

/* The most frames that a value can hold, the process included. */
enum { FRAMES_MOST = WORD_BYTES_MAX / 8 - 1 };

bool check_is_place_call(const struct lang *l, const struct node *n)
{
    if (n->kind != N_CALL || n->type || n->kid[0]->kind != N_IDENT ||
        n->kid[0]->scope != SCOPE_GLOBAL)
        return false;
    const struct ident *id = names_find(&l->globals, n->kid[0]->name);
    return id && id->kind == ID_FN && id->fn->kind == FN_ACTION && id->fn->number == ACT_STACK;
}

/* Checks for a constant argument of at least `least`; reports an error otherwise. */
static bool constant(struct lang *l, const struct lang_fn *fn, struct node *n, unsigned number,
                     uint64_t least, const char *tag)
{
    if (type_is_error(check_expr(l, n)))
        return false;
    if (n->kind == N_INT && (int64_t)n->num >= (int64_t)least && n->num <= UINT32_MAX)
        return true;
    lang_err(l, &n->pos, tag, NULL, "%s( ) argument #%u (%s) must be a %spositive integer constant",
             fn->name, number, number == 1 ? "frames" : "bytes of strings",
             least > 0 ? "non-zero " : "");
    return false;
}

/* Returns a stack type with that many frames. */
static const struct type *stack_of(struct lang *l, const struct type *kind, uint32_t frames)
{
    struct type *t = lang_alloc(l, sizeof *t);
    *t = *kind;
    t->size = 8 * frames + (kind->kind == TYPE_USTACK ? 8 : 0);
    return t;
}

static const struct type *check_stack(struct lang *l, struct node *n, const struct lang_fn *fn)
{
    struct node *frames = n->args;
    const struct lang_options *o = l->opt;
    uint32_t count = fn->result == T_STACK    ? o->stackframes
                     : fn->result == T_USTACK ? o->ustackframes
                                              : o->jstackframes;
    bool ok = true;
    if (frames)
        ok = constant(l, fn, frames, 1, 1,
                      fn->result == T_STACK ? "D_STACK_SIZE" : "D_USTACK_FRAMES");
    if (frames && frames->next)
        ok = constant(l, fn, frames->next, 2, 0, "D_USTACK_STRSIZE") && ok;
    if (!ok)
        return check_bad(n);
    if (frames)
        count = (uint32_t)frames->num;
    count = count < o->maxframes ? count : o->maxframes;
    count = count < FRAMES_MOST ? count : FRAMES_MOST;
    frames = node_new(l, N_INT, &n->pos);
    node_set_int(frames, count, &type_c[T_UINT]);
    n->args = frames;
    return n->type = stack_of(l, &type_c[fn->result], count);
}

const struct type *check_place_call(struct lang *l, struct node *n, const struct lang_fn *fn)
{
    bool stack = type_c[fn->result].kind == TYPE_STACK || type_c[fn->result].kind == TYPE_USTACK;
    if (!check_arg_count(l, fn, n->args, &n->pos) || (!stack && !check_args(l, fn, n->args)))
        return check_bad(n);
    n->fn = fn;
    n->name = fn->name;
    n->post = true;
    n->kid[0] = NULL;
    return stack ? check_stack(l, n, fn) : (n->type = &type_c[fn->result]);
}

void check_place_as(struct node *n, const struct type *key)
{
    n->type = key;
    if (key->kind == TYPE_STACK || key->kind == TYPE_USTACK)
        n->args->num = (key->size - (key->kind == TYPE_USTACK ? 8 : 0)) / 8;
}
