/* kvalue.c - compiles the values of the tables.
 *
 * A place is followed member by member. What has been emitted leaves an address in the register,
 * and `bit` is how far behind it the place lies; only a "->" or the end of the place loads from
 * there. The steps of an operand that is a place come first, so that what it makes is kept while
 * those of the value itself run. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "linux/ksyscall.h"
#include "linux/kvalue.h"

struct steps {
    struct kstep step[KVALUE_STEPS];
    uint32_t n;
};

/* Where a place has led so far. */
struct place {
    struct steps code;
    bool in_memory;   /* the place is at register + bit / 8; else it is the register itself */
    uint64_t bit;     /* in memory */
    uint32_t bits;    /* the width of a bit-field; 0: it is none */
    uint32_t type;    /* 0: a number */
    uint32_t pointee; /* what it points to, if not what its type says; 0: its type says it */
};

struct compiler {
    const struct kbtf *b;
    uint32_t proto;
    struct arena *mem;
    const char *p;   /* what is still to be read */
    const char *why; /* it cannot be compiled; NULL: it can */
};

const char kvalue_no_memory[] = "has no memory left";

/* Remembers the first reason why this cannot be compiled. */
#define FAIL(c, ...)                                                                               \
    do {                                                                                           \
        if ((c)->why == NULL)                                                                      \
            (c)->why = arena_printf((c)->mem, __VA_ARGS__);                                        \
        if ((c)->why == NULL)                                                                      \
            (c)->why = kvalue_no_memory;                                                           \
    } while (0)

static void emit(struct compiler *c, struct steps *s, struct kstep step)
{
    if (s->n < KVALUE_STEPS)
        s->step[s->n++] = step;
    else
        FAIL(c, "has a value that takes too many steps");
}

static void emit_n(struct compiler *c, struct steps *s, enum kstep_op op, int64_t n)
{
    emit(c, s, (struct kstep){.op = op, .n = n});
}

/* -- words --------------------------------------------------------------------------- */

static bool word_char(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_';
}

/* Takes a name or a number, and returns its length. */
static size_t take_word(struct compiler *c, const char **word)
{
    size_t n = 0;
    *word = c->p;
    while (word_char(c->p[n]))
        n++;
    c->p += n;
    return n;
}

static bool take(struct compiler *c, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(c->p, text, n) != 0 || (word_char(text[n - 1]) && word_char(c->p[n])))
        return false;
    c->p += n;
    return true;
}

static void blanks(struct compiler *c)
{
    while (*c->p == ' ')
        c->p++;
}

static bool at_end(struct compiler *c)
{
    blanks(c);
    return *c->p == '\0' || *c->p == ';';
}

static bool starts_number(const char *p)
{
    return isdigit((unsigned char)*p) || (*p == '-' && isdigit((unsigned char)p[1]));
}

static int64_t number(struct compiler *c)
{
    char *end;
    int64_t n = strtoll(c->p, &end, 0);
    c->p = end;
    return n;
}

/* Takes a constant: a number, a system call or an enumerator. Returns false if it is a system call
 * that this kind of machine does not have. */
static bool constant(struct compiler *c, int64_t *n)
{
    const char *word, sys[] = "sys_";
    if (starts_number(c->p)) {
        *n = number(c);
        return true;
    }
    size_t len = take_word(c, &word);
    if (strncmp(word, sys, strlen(sys)) == 0)
        return ksyscall_number(word + strlen(sys), len - strlen(sys), n);
    char *name = arena_strndup(c->mem, word, len);
    if (name == NULL)
        c->why = kvalue_no_memory;
    else if (!kbtf_constant(c->b, name, n, NULL))
        FAIL(c, "has no constant '%.*s'", (int)len, word);
    return true;
}

/* -- places --------------------------------------------------------------------------- */

/* Returns the type of pointers to that one; 0: the kernel has none. */
static uint32_t pointer_to(const struct kbtf *b, uint32_t to)
{
    for (uint32_t id = 1; to != 0 && id < kbtf_count(b); id++)
        if (kbtf_kind(b, id) == KBTF_PTR && kbtf_target(b, id) == to)
            return id;
    return 0;
}

static uint32_t struct_named(struct compiler *c, const char *name, size_t len)
{
    char *text = arena_strndup(c->mem, name, len);
    uint32_t id = text != NULL ? kbtf_find(c->b, KBTF_STRUCT, text) : 0;
    if (text == NULL)
        c->why = kvalue_no_memory;
    else if (id == 0)
        FAIL(c, "has no struct %.*s", (int)len, name);
    return id;
}

/* Loads what is in memory into the register, if it fits there; else its address. */
static void load(struct compiler *c, struct place *at)
{
    struct kbtf_scalar is;
    uint64_t byte = at->bit / 8;
    if (!at->in_memory)
        return;
    at->in_memory = false;
    if (!kbtf_scalar(c->b, at->type, &is)) {
        if (byte != 0)
            emit_n(c, &at->code, KSTEP_ADD, (int64_t)byte);
        return;
    }
    if (at->bits == 0) {
        emit(c, &at->code,
             (struct kstep){.op = KSTEP_LOAD,
                            .size = (uint8_t)is.size,
                            .is_signed = is.is_signed,
                            .n = (int64_t)byte});
        return;
    }
    /* The smallest aligned bytes that have the whole bit-field. Its bits count from the least
     * significant one on. */
    uint32_t size = 1, width = at->bits, shift;
    while (size < 8 && at->bit - (byte & ~(uint64_t)(size - 1)) * 8 + width > size * 8)
        size *= 2;
    byte &= ~(uint64_t)(size - 1);
    shift = (uint32_t)(at->bit - byte * 8);
    if (shift + width > size * 8) {
        FAIL(c, "has a bit-field that lies across words");
        return;
    }
    emit(c, &at->code, (struct kstep){.op = KSTEP_LOAD, .size = (uint8_t)size, .n = (int64_t)byte});
    if (is.is_signed) {
        emit_n(c, &at->code, KSTEP_SHL, 64 - (int64_t)(shift + width));
        emit(c, &at->code,
             (struct kstep){.op = KSTEP_SHR, .is_signed = true, .n = 64 - (int64_t)width});
        return;
    }
    if (shift != 0)
        emit_n(c, &at->code, KSTEP_SHR, shift);
    if (shift + width < size * 8)
        emit_n(c, &at->code, KSTEP_AND, (int64_t)((UINT64_C(1) << width) - 1));
}

/* Begins a place with an argument of the tracepoint. */
static void argument(struct compiler *c, uint32_t i, struct place *at)
{
    struct kbtf_param param;
    struct kbtf_scalar is;
    if (i == 0 || !kbtf_param(c->b, c->proto, i, &param) || !kbtf_scalar(c->b, param.type, &is)) {
        FAIL(c, "has no number as argument %u there", i);
        return;
    }
    at->type = param.type;
    emit_n(c, &at->code, KSTEP_ARG, i - 1);
    if (is.size < 8)
        emit(c, &at->code,
             (struct kstep){
                 .op = KSTEP_EXTEND, .size = (uint8_t)is.size, .is_signed = is.is_signed});
}

/* Returns which argument points to a struct of that name; 0: none. */
static uint32_t argument_named(struct compiler *c, const char *name, size_t len)
{
    struct kbtf_param param;
    for (uint32_t i = 1; kbtf_param(c->b, c->proto, i, &param); i++) {
        uint32_t ptr = kbtf_resolve(c->b, param.type);
        uint32_t to = kbtf_resolve(c->b, kbtf_target(c->b, ptr));
        const char *is = kbtf_name(c->b, to);
        if (kbtf_kind(c->b, ptr) == KBTF_PTR && kbtf_kind(c->b, to) == KBTF_STRUCT &&
            strlen(is) == len && memcmp(is, name, len) == 0)
            return i;
    }
    FAIL(c, "has no struct %.*s as an argument there", (int)len, name);
    return 0;
}

static void base(struct compiler *c, struct place *at)
{
    const char *word;
    size_t len;
    int64_t n;
    if (take(c, "$")) {
        if (isdigit((unsigned char)*c->p)) {
            argument(c, (uint32_t)number(c), at);
        } else {
            len = take_word(c, &word);
            argument(c, argument_named(c, word, len), at);
        }
    } else if (take(c, "task")) {
        emit_n(c, &at->code, KSTEP_TASK, 0);
        at->pointee = struct_named(c, "task_struct", strlen("task_struct"));
        at->type = pointer_to(c->b, at->pointee);
    } else if (take(c, "regs")) {
        emit_n(c, &at->code, KSTEP_REGS, 0);
        at->pointee = struct_named(c, "pt_regs", strlen("pt_regs"));
        at->type = pointer_to(c->b, at->pointee);
    } else if (take(c, "cpu")) {
        emit_n(c, &at->code, KSTEP_CPU, 0);
    } else if (constant(c, &n)) {
        emit_n(c, &at->code, KSTEP_CONST, n);
    } else {
        FAIL(c, "has no such system call on this kind of machine");
    }
    if (take(c, "(")) {
        len = take_word(c, &word);
        at->pointee = struct_named(c, word, len);
        at->type = pointer_to(c->b, at->pointee);
        if (!take(c, ")"))
            FAIL(c, "has no ')' before '%.20s'", c->p);
    }
}

/* Goes to a member of the struct at the place. */
static void member(struct compiler *c, struct place *at)
{
    const char *word;
    size_t len = take_word(c, &word);
    char *name = arena_strndup(c->mem, word, len);
    struct kbtf_member m;
    if (name == NULL) {
        c->why = kvalue_no_memory;
    } else if (!kbtf_path(c->b, at->type, name, &m)) {
        const char *of = kbtf_name(c->b, kbtf_resolve(c->b, at->type));
        FAIL(c, "has no member '%.*s' in struct %s", (int)len, word, *of != '\0' ? of : "{}");
    } else {
        at->bit += m.bit;
        at->bits = m.bits;
        at->type = m.type;
    }
}

static void element(struct compiler *c, struct place *at)
{
    uint32_t array = kbtf_resolve(c->b, at->type), of = kbtf_target(c->b, array);
    int64_t i = starts_number(c->p) ? number(c) : -1;
    if (!take(c, "]") || !at->in_memory || i < 0 || i >= kbtf_elements(c->b, array)) {
        FAIL(c, "has no such element before '%.20s'", c->p);
        return;
    }
    at->bit += kbtf_size(c->b, of) * 8 * (uint64_t)i;
    at->type = of;
}

static void place(struct compiler *c, struct place *at)
{
    base(c, at);
    while (c->why == NULL) {
        if (take(c, "->")) {
            load(c, at);
            uint32_t to = at->pointee;
            if (to == 0)
                to = kbtf_target(c->b, kbtf_resolve(c->b, at->type));
            at->type = to;
            at->pointee = 0;
            at->in_memory = true;
            at->bit = 0;
            member(c, at);
        } else if (take(c, ".")) {
            if (!at->in_memory)
                FAIL(c, "has no struct before '.%.20s'", c->p);
            member(c, at);
        } else if (take(c, "[")) {
            element(c, at);
        } else {
            break;
        }
    }
    load(c, at);
}

/* -- operators ------------------------------------------------------------------------ */

static void set(struct compiler *c, struct steps *ops)
{
    struct kstep in = {.op = KSTEP_IN};
    int64_t n;
    while (c->why == NULL && !at_end(c)) {
        if (!constant(c, &n))
            continue;
        if (c->why == NULL && (in.size == KSTEP_SET || n != (int32_t)n))
            FAIL(c, "has too much in a set");
        else if (c->why == NULL)
            in.set[in.size++] = (int32_t)n;
    }
    emit(c, ops, in);
}

/* Takes an operator with its operand. `kept` gets the steps of one that is a place. */
static void operation(struct compiler *c, struct steps *ops, struct steps *kept, uint32_t *type)
{
    static const struct {
        const char *text;
        enum kstep_op op;
        bool compares;
    } operators[] = {
        {"+", KSTEP_ADD, false}, {"-", KSTEP_SUB, false},  {"&", KSTEP_AND, false},
        {"|", KSTEP_OR, false},  {"<<", KSTEP_SHL, false}, {">>", KSTEP_SHR, false},
        {"==", KSTEP_EQ, true},  {"!=", KSTEP_NE, true},   {"<", KSTEP_LT, true},
        {">=", KSTEP_GE, true},  {"in", KSTEP_IN, true},   {"errno", KSTEP_ERRNO, true},
    };
    size_t len = strcspn(c->p, " ;"), i = 0, n = sizeof operators / sizeof *operators;
    while (i < n && (strlen(operators[i].text) != len || memcmp(operators[i].text, c->p, len) != 0))
        i++;
    if (i == n) {
        FAIL(c, "has no operator '%.20s'", c->p);
        return;
    }
    c->p += len;
    blanks(c);
    if (operators[i].compares)
        *type = 0;
    struct kstep step = {.op = operators[i].op};
    if (step.op == KSTEP_IN) {
        set(c, ops);
        return;
    }
    bool is_place = *c->p == '$' || strncmp(c->p, "task", 4) == 0 ||
                    strncmp(c->p, "regs", 4) == 0 || strncmp(c->p, "cpu", 3) == 0;
    if (step.op != KSTEP_ERRNO && is_place) {
        struct place at = {.in_memory = false};
        if (kept->n != 0)
            FAIL(c, "has a value with two places as operands");
        place(c, &at);
        *kept = at.code;
        step.kept = true;
    } else if (step.op != KSTEP_ERRNO && !constant(c, &step.n)) {
        FAIL(c, "has no such system call on this kind of machine");
    }
    emit(c, ops, step);
}

static void choice(struct compiler *c, struct kvalue *out)
{
    struct place at = {.in_memory = false};
    struct steps ops = {.n = 0}, kept = {.n = 0}, all = {.n = 0};
    place(c, &at);
    while (c->why == NULL && !at_end(c))
        operation(c, &ops, &kept, &at.type);
    if (kept.n != 0)
        emit(c, &kept, (struct kstep){.op = KSTEP_KEEP});
    const struct steps *parts[] = {&kept, &at.code, &ops};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (uint32_t k = 0; k < parts[i]->n; k++)
            emit(c, &all, parts[i]->step[k]);
    struct kstep *step = c->why == NULL ? arena_array(c->mem, all.n, sizeof *step) : NULL;
    if (step == NULL) {
        c->why = c->why != NULL ? c->why : kvalue_no_memory;
        return;
    }
    memcpy(step, all.step, all.n * sizeof *step);
    *out = (struct kvalue){step, all.n, at.type};
}

const char *kvalue_compile(struct kvalue *out, const char *text, const struct kbtf *b,
                           uint32_t proto, struct arena *mem)
{
    struct compiler c = {.b = b, .proto = proto, .mem = mem, .p = text};
    for (;;) {
        blanks(&c);
        choice(&c, out);
        const char *next = strchr(text, ';');
        if (c.why == NULL || c.why == kvalue_no_memory || next == NULL)
            return c.why;
        c.why = NULL;
        c.p = text = next + 1;
    }
}
