/* kusdt.c - notes of probes. See kusdt.h.
 *
 * A note has three words (the place, the address of .stapsdt.base when the file was linked, the
 * semaphore), then three texts. Prelinking moves all addresses by what that base has moved. */
#include "linux/kusdt.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "linux/kregs.h"

/* -- notes ------------------------------------------------------------------------------------- */

enum { NOTE_STAPSDT = 3, TEXT_MOST = 4096 };
static const char owner[] = "stapsdt";

/* Takes a text with its 0; NULL: it does not end. */
static const char *text(struct rdr *r)
{
    const char *s = (const char *)r->p;
    const size_t left = rdr_left(r), n = strnlen(s, left < TEXT_MOST ? left : TEXT_MOST);
    if (n == left || n == TEXT_MOST)
        return NULL;
    rdr_bytes(r, n + 1);
    return s;
}

static void note(struct rdr *r, uint64_t base, kusdt_fn *fn, void *arg)
{
    struct kusdt_note n = {.at = rdr_u64(r)};
    const uint64_t linked = rdr_u64(r);
    n.semaphore = rdr_u64(r);
    if (r->bad || (n.prov = text(r)) == NULL || (n.name = text(r)) == NULL ||
        (n.args = text(r)) == NULL || n.prov[0] == '\0' || n.name[0] == '\0')
        return;
    if (base != 0 && linked != 0) {
        n.at += base - linked;
        n.semaphore += n.semaphore != 0 ? base - linked : 0;
    }
    fn(arg, &n);
}

void kusdt_read(const unsigned char *bytes, size_t n, uint64_t base, kusdt_fn *fn, void *arg)
{
    struct rdr r = {bytes, bytes + n, false};
    while (rdr_left(&r) >= 3 * sizeof(uint32_t)) {
        const uint32_t name = rdr_u32(&r), desc = rdr_u32(&r), type = rdr_u32(&r);
        const unsigned char *is = rdr_bytes(&r, name);
        rdr_bytes(&r, -name & 3);
        struct rdr of = {r.p, r.p, false};
        const unsigned char *at = rdr_bytes(&r, desc);
        if (r.bad)
            return;
        of.p = at;
        of.end = at + desc;
        if (type == NOTE_STAPSDT && name == sizeof owner && memcmp(is, owner, sizeof owner) == 0)
            note(&of, base, fn, arg);
        if (rdr_left(&r) >= (-desc & 3)) /* the last one may lack it */
            rdr_bytes(&r, -desc & 3);
        else
            return;
    }
}

/* -- arguments --------------------------------------------------------------------------------- */

struct steps {
    struct kstep step[KVALUE_STEPS];
    uint32_t n;
};

static void emit(struct steps *s, enum kstep_op op, int64_t n)
{
    s->step[s->n++] = (struct kstep){.op = op, .n = n};
}

static void take_register(struct steps *s, const struct kreg *r)
{
    emit(s, KSTEP_ARG, r->place);
    if (r->shift != 0)
        emit(s, KSTEP_SHR, r->shift);
    if (r->size < 8)
        s->step[s->n++] = (struct kstep){.op = KSTEP_EXTEND, .size = r->size};
}

static void blanks(const char **p)
{
    while (**p == ' ')
        (*p)++;
}

static bool take(const char **p, char c)
{
    blanks(p);
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

static bool take_number(const char **p, int64_t *n)
{
    const char *q = *p + (**p == '-' || **p == '+');
    if (!isdigit((unsigned char)*q))
        return false;
    const bool hex = q[0] == '0' && (q[1] == 'x' || q[1] == 'X');
    char *end;
    const uint64_t v = strtoull(q, &end, hex ? 16 : 10);
    *n = (int64_t)(**p == '-' ? 0 - v : v);
    *p = end;
    return true;
}

static bool take_name(const char **p, struct kreg *r)
{
    size_t n = 0;
    while (isalnum((unsigned char)(*p)[n]))
        n++;
    const bool known = kregs_find(*p, n, r);
    *p += known ? n : 0;
    return known;
}

/* r = base + (index << shift) + disp, then what is in memory there. */
static void memory(struct steps *s, const struct kreg *base, const struct kreg *index,
                   unsigned shift, int64_t disp, unsigned size, bool is_signed)
{
    if (index != NULL) {
        take_register(s, index);
        if (shift != 0)
            emit(s, KSTEP_SHL, shift);
        if (base != NULL)
            emit(s, KSTEP_KEEP, 0);
    }
    if (base != NULL)
        take_register(s, base);
    if (base != NULL && index != NULL)
        s->step[s->n++] = (struct kstep){.op = KSTEP_ADD, .kept = true};
    s->step[s->n++] = (struct kstep){
        .op = KSTEP_LOAD_USER, .size = (uint8_t)size, .is_signed = is_signed, .n = disp};
}

#ifdef __aarch64__

/* "x0", "17", "[sp, 16]", "[x0, x1, lsl 3]". */
static bool operand(const char **p, struct steps *s, unsigned size, bool is_signed)
{
    struct kreg base, index;
    int64_t n = 0, shift = 0;
    if (take_number(p, &n)) {
        emit(s, KSTEP_CONST, n);
        return true;
    }
    if (!take(p, '[')) {
        if (!take_name(p, &base))
            return false;
        take_register(s, &base);
        return true;
    }
    if (!take_name(p, &base))
        return false;
    bool indexed = false;
    if (take(p, ',')) {
        blanks(p);
        indexed = !take_number(p, &n);
        if (indexed && !take_name(p, &index))
            return false;
        if (indexed && take(p, ',')) {
            blanks(p);
            if (strncmp(*p, "lsl ", 4) != 0)
                return false;
            *p += 4;
            *p += **p == '#';
            if (!take_number(p, &shift) || shift < 0 || shift > 3)
                return false;
        }
    }
    memory(s, &base, indexed ? &index : NULL, (unsigned)shift, n, size, is_signed);
    return take(p, ']');
}

#else

/* "%rax", "$-17", "-8(%rbp)", "16(%rax,%rcx,8)", "(,%rcx,4)". */
static bool operand(const char **p, struct steps *s, unsigned size, bool is_signed)
{
    struct kreg base, index;
    int64_t n = 0, scale = 1;
    if (take(p, '$')) {
        if (!take_number(p, &n))
            return false;
        emit(s, KSTEP_CONST, n);
        return true;
    }
    if (take(p, '%')) {
        if (!take_name(p, &base))
            return false;
        take_register(s, &base);
        return true;
    }
    take_number(p, &n);
    bool based = false, indexed = false;
    if (!take(p, '('))
        return false;
    if (take(p, '%')) {
        if (!take_name(p, &base))
            return false;
        based = true;
    }
    if (take(p, ',')) {
        if (!take(p, '%') || !take_name(p, &index))
            return false;
        indexed = true;
        if (take(p, ',')) {
            blanks(p);
            if (!take_number(p, &scale))
                return false;
        }
    }
    unsigned shift = 0;
    while (shift < 3 && INT64_C(1) << shift != scale)
        shift++;
    if (INT64_C(1) << shift != scale || (!based && !indexed))
        return false;
    memory(s, based ? &base : NULL, indexed ? &index : NULL, shift, n, size, is_signed);
    return take(p, ')');
}

#endif

/* Goes to the end of an argument: brackets may have blanks. */
static void skip(const char **p)
{
    unsigned open = 0;
    for (; **p != '\0' && (**p != ' ' || open > 0); (*p)++) {
        open += **p == '(' || **p == '[';
        open -= open > 0 && (**p == ')' || **p == ']');
    }
}

static void argument(const char **p, struct kusdt_arg *out, struct arena *mem, bool *oom)
{
    static const char *const types[2][9] = {
        {[1] = "uint8_t", [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t"},
        {[1] = "int8_t", [2] = "int16_t", [4] = "int32_t", [8] = "int64_t"}};
    struct steps s = {.n = 0};
    const char *q = *p;
    int64_t size = 8;
    bool sized = take_number(&q, &size) && *q == '@';
    if (sized)
        q++;
    else /* the size is left out, or that of no integer ("8f@%xmm0") */
        q = *p;
    const char *at = strchr(q, '@'), *end = q;
    skip(&end);
    bool good = at == NULL || at >= end;
    if (!sized)
        size = 8;
    const bool is_signed = size < 0;
    size = is_signed ? -size : size;
    if (size != 1 && size != 2 && size != 4 && size != 8) {
        good = false;
        size = 8;
    }
    good = good && operand(&q, &s, (unsigned)size, is_signed) && (*q == ' ' || *q == '\0');
    if (!good) {
        s.n = 0;
        emit(&s, KSTEP_CONST, 0);
    } else if (s.step[s.n - 1].op != KSTEP_LOAD_USER && size < 8) {
        s.step[s.n++] =
            (struct kstep){.op = KSTEP_EXTEND, .size = (uint8_t)size, .is_signed = is_signed};
    }
    struct kstep *step = arena_array(mem, s.n, sizeof *step);
    *oom |= step == NULL;
    if (step != NULL)
        memcpy(step, s.step, s.n * sizeof *step);
    *out = (struct kusdt_arg){types[is_signed][size], {step, step != NULL ? s.n : 0, 0}};
    skip(p);
}

size_t kusdt_args(const char *args, struct kusdt_arg *out, size_t most, struct arena *mem,
                  bool *oom)
{
    size_t n = 0;
    blanks(&args);
    while (*args != '\0' && n < most) {
        argument(&args, &out[n++], mem, oom);
        blanks(&args);
    }
    return n;
}
