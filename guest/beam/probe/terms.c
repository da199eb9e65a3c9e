/* terms.c - see terms.h. */
#include "beam/probe/code.h"
#include "beam/probe/terms.h"

#include <string.h>

#include "base/size.h"
#include "beam/probe/procname.h"
#include "beam/probe/records.h"
#include "beam/probe/term_read.h"

enum { EVENT_TERM_BITS = 6, THREAD_BITS = 10 };
_Static_assert(EVENT_TERMS == 1 << EVENT_TERM_BITS, "an index is part of a handle");
_Static_assert(ENGINE_THREADS_MAX <= 1 << THREAD_BITS, "a thread's index is part of a handle");

static uint64_t handle(const struct event_terms *terms, uint32_t i)
{
    return terms->event << EVENT_TERM_BITS | i;
}

static ERL_NIF_TERM term_of(struct engine_ctx *ctx, uint64_t term)
{
    return event_of(ctx)->terms.t[term & (EVENT_TERMS - 1)];
}

uint64_t terms_keep(struct event *ev, ERL_NIF_TERM t)
{
    struct event_terms *terms = &ev->terms;
    if (terms->n == 0) /* the number is never 0 */
        terms->event = ++tracer_thread(ev->t)->term_events << THREAD_BITS | ev->t->index;
    for (uint32_t i = 0; i < terms->n; i++)
        if (terms->t[i] == t)
            return handle(terms, i);
    if (terms->n == EVENT_TERMS)
        return ENGINE_TERMS_FULL;
    terms->t[terms->n] = t;
    return handle(terms, terms->n++);
}

static bool terms_known(struct engine_ctx *ctx, uint64_t term)
{
    const struct event_terms *terms = &event_of(ctx)->terms;
    return terms->n > 0 && term >> EVENT_TERM_BITS == terms->event &&
           (term & (EVENT_TERMS - 1)) < terms->n;
}

static const char *terms_kind(struct engine_ctx *ctx, uint64_t term)
{
    return term_kind(event_of(ctx)->env, term_of(ctx, term));
}

static int64_t terms_ask(struct engine_ctx *ctx, uint64_t term, enum engine_ask what, int64_t with)
{
    ErlNifEnv *env = event_of(ctx)->env;
    const ERL_NIF_TERM t = term_of(ctx, term);
    uint32_t words;
    switch (what) {
    case ENGINE_ASK_INT: return term_int(env, t);
    case ENGINE_ASK_EQUALS: return term_is_int(env, t, with);
    case ENGINE_ASK_FLOAT: return term_scaled(env, t, with);
    case ENGINE_ASK_SIZE: return term_count(env, t, &ctx->looked);
    case ENGINE_ASK_LENGTH: return term_length(env, t, &ctx->looked);
    case ENGINE_ASK_WORDS:
        words = term_words_looked(env, t, &agent.sizes, &ctx->looked, &ctx->least);
        return words == TERM_SIZE_UNKNOWN ? -1 : (int64_t)words;
    case ENGINE_ASK_HASH: return (int64_t)term_hash(env, t, &ctx->looked);
    }
    return 0;
}

static bool terms_equal(struct engine_ctx *ctx, uint64_t a, uint64_t b)
{
    return term_equal(event_of(ctx)->env, term_of(ctx, a), term_of(ctx, b), &ctx->looked);
}

/* Returns the arguments of the function that is called, or that a new process begins with, if they
 * are known. */
static ERL_NIF_TERM arguments(const struct event *ev)
{
    const ERL_NIF_TERM *e;
    int n;
    if (ev->args != 0 || ev->other == 0)
        return ev->args;
    return enif_get_tuple(ev->env, ev->other, &n, &e) && n == 3 &&
                   (e[2] == agent.nil || !event_is_word(e[2]))
               ? e[2]
               : 0;
}

static size_t terms_text(struct engine_ctx *ctx, uint64_t term, bool other, char *out, size_t cap)
{
    const struct event *ev = event_of(ctx);
    const ERL_NIF_TERM t = term_of(ctx, term);
    const unsigned form =
        (other ? TERM_ELIXIR : TERM_ERLANG) | (t == arguments(ev) ? TERM_ARGUMENTS : 0);
    return term_shown(ev->env, t, form, ev->view, out, cap, &ctx->looked);
}

static size_t terms_string(struct engine_ctx *ctx, uint64_t term, char *out, size_t cap)
{
    const struct event *ev = event_of(ctx);
    return term_string(ev->env, term_of(ctx, term), ev->view, out, cap, &ctx->looked);
}

/* Returns whether element n, from 1, of a tuple or list, or the value of that key of a map, is not
 * to be seen. It is there. */
static bool is_redacted(struct engine_ctx *ctx, ERL_NIF_TERM t, int64_t n)
{
    const struct event *ev = event_of(ctx);
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM before;
    int size;
    if (ev->view == NULL || read_is_map(ev->env, t)) /* the texts of numbers are no keys */
        return false;
    if (read_tuple(ev->env, t, &size, &e))
        return record_hides(records_find(ev->view, e, size), n - 1) ||
               redact_element(ev->env, ev->view, e, (size_t)n - 1, &ctx->looked);
    return n > 1 && term_element(ev->env, t, n - 1, &before, &ctx->looked) &&
           redact_behind(ev->env, ev->view, before, &ctx->looked);
}

static uint64_t terms_part(struct engine_ctx *ctx, uint64_t term, enum engine_part which, int64_t n)
{
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM head, tail;
    int size;
    struct event *ev = event_of(ctx);
    const ERL_NIF_TERM t = term_of(ctx, term);
    switch (which) {
    case ENGINE_PART_HEAD:
    case ENGINE_PART_TAIL:
        if (!read_cell(ev->env, t, &head, &tail))
            return 0;
        if (which == ENGINE_PART_TAIL && redact_behind(ev->env, ev->view, head, &ctx->looked))
            tail = agent.atom.redacted; /* in itself it would begin without its key */
        return terms_keep(ev, which == ENGINE_PART_HEAD ? head : tail);
    case ENGINE_PART_ELEMENT:
        if (!read_tuple(ev->env, t, &size, &e))
            return 0;
        break;
    case ENGINE_PART_ANY: break;
    }
    if (!term_element(ev->env, t, n, &head, &ctx->looked))
        return 0;
    return terms_keep(ev, is_redacted(ctx, t, n) ? agent.atom.redacted : head);
}

/* Returns the field of a native record that has this name, wherever it stands in this one. */
static uint64_t native_field(struct engine_ctx *ctx, const struct read_record *r,
                             const struct known_field *field)
{
    ERL_NIF_TERM value;
    ctx->looked += size_min(r->n, TERM_LOOK);
    if (!read_field_value(r, field->name, TERM_LOOK, &value))
        return ENGINE_TERMS_OTHER;
    return terms_keep(event_of(ctx), field->hidden ? agent.atom.redacted : value);
}

/* `which`: the number of the record, and of the element from 1 on, in 32 bits each. */
static uint64_t terms_field(struct engine_ctx *ctx, uint64_t term, uint64_t which)
{
    struct event *ev = event_of(ctx);
    const ERL_NIF_TERM *e, t = term_of(ctx, term);
    const uint64_t number = which >> 32, at = which & UINT32_MAX;
    struct read_record native;
    int size;
    if (ev->view == NULL || number >= ev->view->records.n)
        return ENGINE_TERMS_OTHER;
    const struct known_record *r = &ev->view->records.v[number];
    if (at < 1 || at > (uint64_t)r->size)
        return ENGINE_TERMS_OTHER;
    if (read_record(t, &native))
        return at > 1 && native.name == r->name ? native_field(ctx, &native, &r->field[at - 2])
                                                : ENGINE_TERMS_OTHER;
    if (!read_tuple(ev->env, t, &size, &e) || size != r->size || e[0] != r->name)
        return records_is_old(ev->view, r->name) && read_tuple(ev->env, t, &size, &e) && size > 0 &&
                       e[0] == r->name
                   ? ENGINE_TERMS_OLD
                   : ENGINE_TERMS_OTHER;
    if (atomic_load_explicit(&r->old, memory_order_relaxed))
        return ENGINE_TERMS_OLD;
    const bool hidden = record_hides(records_find(ev->view, e, size), (int64_t)at - 1);
    return terms_keep(ev, hidden ? agent.atom.redacted : e[at - 1]);
}

static bool terms_is_record(struct engine_ctx *ctx, uint64_t term, uint64_t name)
{
    return term_is_record(event_of(ctx)->env, term_of(ctx, term), term_of(ctx, name));
}

static uint64_t terms_get(struct engine_ctx *ctx, uint64_t term, const char *name, size_t len)
{
    ERL_NIF_TERM t;
    struct event *ev = event_of(ctx);
    if (!term_get(ev->env, term_of(ctx, term), name, len, &t, &ctx->looked))
        return 0;
    return terms_keep(ev, redact_name(ev->view, name, len, &ctx->looked) ? agent.atom.redacted : t);
}

/* Most texts are those that this event itself has made of a pid. */
static size_t terms_name(struct engine_ctx *ctx, const char *text, size_t len, char *out)
{
    const struct event *ev = event_of(ctx);
    for (uint32_t i = 0; i < ev->npids; i++)
        if (ev->pids[i].text == text)
            return procname_text(ev->env, ev->pids[i].pid, redact_any(ev->view), out);
    return procname_of_text(ev->env, text, len, redact_any(ev->view), out);
}

static uint64_t terms_value(struct engine_ctx *ctx, uint64_t term, uint64_t key)
{
    ERL_NIF_TERM t;
    struct event *ev = event_of(ctx);
    const ERL_NIF_TERM k = term_of(ctx, key);
    if (!term_value(ev->env, term_of(ctx, term), k, &t, &ctx->looked))
        return 0;
    return terms_keep(ev, redact_key(ev->env, ev->view, k, &ctx->looked) ? agent.atom.redacted : t);
}

static uint64_t terms_constant(struct engine_ctx *ctx, uint64_t word)
{
    return terms_keep(event_of(ctx), word);
}

const struct engine_terms terms_ops = {
    .known = terms_known,
    .kind = terms_kind,
    .ask = terms_ask,
    .equal = terms_equal,
    .text = terms_text,
    .string = terms_string,
    .part = terms_part,
    .field = terms_field,
    .is_record = terms_is_record,
    .get = terms_get,
    .name = terms_name,
    .value = terms_value,
    .constant = terms_constant,
    .pass = erltrace_event,
    .watched = usdt_watched,
    .tell = usdt_fire,
};

/* -- constants --------------------------------------------------------------------------------- */

/* Returns the number of the string that a call of atom() at this instruction names, as the compiler
 * writes such calls; UINT64_MAX: it is none. (Elsewhere such a call finds no word, and is no term.)
 */
static uint64_t named_by(const struct dif_image *img, uint32_t i)
{
    const uint32_t *at = &img->code[i];
    const unsigned reg = at[0] >> 16 & 255, imm = at[0] & 65535;
    if (at[1] != dif_abc(DIF_OP_PUSHTV, reg, 0, 0) || at[2] >> 24 != DIF_OP_CALL ||
        (at[2] & 65535) != DIF_SUBR_atom)
        return UINT64_MAX;
    return at[0] >> 24 == DIF_OP_SETI                       ? imm
           : at[0] >> 24 == DIF_OP_SETX && imm < img->nints ? img->ints[imm]
                                                            : UINT64_MAX;
}

const char *terms_constants(ErlNifEnv *env, const struct dif_image *img, uint64_t *word)
{
    uint32_t n = 0;
    for (uint32_t i = 0; img->ncode >= 3 && i < img->ncode - 2; i++) {
        const uint64_t name = named_by(img, i);
        ERL_NIF_TERM atom;
        if (name >= img->nstr || word[name] != 0)
            continue;
        if (++n > TERMS_CONSTANTS)
            return "it names too many atoms";
        if (!term_make_atom(env, dif_str(img, (uint32_t)name), &atom))
            return "it names an atom that cannot be";
        word[name] = atom;
    }
    return NULL;
}

/* -- built-in variables ------------------------------------------------------------------------ */

/* Returns argument i, from 0 on, or the list of all; no term when there is none. */
static uint64_t argument(struct event *ev, uint64_t i)
{
    ERL_NIF_TERM head, list = arguments(ev);
    if (list != 0 && i == DIF_WHOLE)
        return terms_keep(ev, list);
    if (list == 0 || i >= READ_ARITY_MOST)
        return 0;
    for (ERL_NIF_TERM before = 0;; before = head) {
        if (!read_cell(ev->env, list, &head, &list))
            return 0;
        if (i-- == 0) {
            const bool hidden =
                before != 0 && redact_behind(ev->env, ev->view, before, &ev->ctx.looked);
            return terms_keep(ev, hidden ? agent.atom.redacted : head);
        }
    }
}

/* Returns the name of the process, its pid where that is not known. */
static uint64_t name(struct event *ev)
{
    char *p = event_room(ev, PROCNAME_TEXT);
    size_t len = p ? procname_text(ev->env, ev->pid, redact_any(ev->view), p) : 0;
    if (len > 0)
        return event_written(ev, p, len);
    if (p)
        ev->used = (uint32_t)(p - ev->room);
    return event_pid(ev, ev->pid);
}

/* Returns the function that the process is in. */
static uint64_t function(struct event *ev)
{
    if (ev->fn)
        return event_text(ev, ev->fn->text, ev->fn->text_len);
    return ev->msg_is == DIF_BUILTIN_erlfunc ? event_mfa(ev, ev->msg, "") : event_constant(ev, "");
}

/* Returns the function that called it. */
static uint64_t caller(struct event *ev)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    if (ev->said_caller != 0)
        return ev->said_caller;
    char *p = code_caller(&ev->ctx, &m, &f, &arity) ? event_room(ev, TERM_TEXT) : NULL;
    ev->said_caller = p ? event_written(ev, p, term_mfa(ev->env, m, f, arity, p, TERM_TEXT))
                        : event_constant(ev, "");
    return ev->said_caller;
}

/* Returns what `make` makes, which is made once in an event. */
static uint64_t once(struct event *ev, unsigned builtin, uint64_t (*make)(struct event *ev))
{
    uint64_t *said = &ev->said[builtin - DIF_BUILTIN_erlpid];
    if (*said == 0)
        *said = make(ev);
    return *said;
}

static uint64_t pid(struct event *ev)
{
    return event_pid(ev, ev->pid);
}

uint64_t terms_about_nothing(struct engine_ctx *ctx, unsigned builtin, uint64_t index)
{
    static const char none[1] = "";
    (void)index;
    switch (builtin) {
    case DIF_BUILTIN_node: return event_constant(event_of(ctx), agent.node_text);
    case DIF_BUILTIN_class:
    case DIF_BUILTIN_erlpid:
    case DIF_BUILTIN_erlname:
    case DIF_BUILTIN_erlfunc:
    case DIF_BUILTIN_erlcaller:
        engine_ctx_range(ctx, none, sizeof none);
        return (uint64_t)(uintptr_t)none;
    default: return 0;
    }
}

uint64_t terms_about(struct engine_ctx *ctx, unsigned builtin, uint64_t index)
{
    struct event *ev = event_of(ctx);
    switch (builtin) {
    case DIF_BUILTIN_argv: return argument(ev, index);
    case DIF_BUILTIN_elapsed: return (uint64_t)ev->elapsed;
    case DIF_BUILTIN_retval:
    case DIF_BUILTIN_message:
    case DIF_BUILTIN_reason:
        return builtin == ev->msg_is && ev->msg != 0 ? terms_keep(ev, ev->msg) : 0;
    case DIF_BUILTIN_class:
        return ev->fn && ev->other ? event_atom(ev, ev->other) : event_constant(ev, "");
    case DIF_BUILTIN_erlpid: return once(ev, builtin, pid);
    case DIF_BUILTIN_erlname: return once(ev, builtin, name);
    case DIF_BUILTIN_erlfunc: return once(ev, builtin, function);
    case DIF_BUILTIN_erlcaller: return caller(ev);
    case DIF_BUILTIN_node: return terms_about_nothing(ctx, builtin, index);
    default: return event_here(ev, builtin);
    }
}
