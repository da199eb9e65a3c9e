/* kcfi.c - see kcfi.h. The file is the traced program's: nothing in it is trusted. */
#include "linux/kcfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"

/* What instructions of the section do, by the numbers that DWARF gives them. */
enum {
    ADVANCE = 1, /* the two highest bits; the others are an operand */
    OFFSET,
    RESTORE,
    NOP = 0,
    SET_LOC,
    ADVANCE_1,
    ADVANCE_2,
    ADVANCE_4,
    OFFSET_EXTENDED,
    RESTORE_EXTENDED,
    UNDEFINED,
    SAME_VALUE,
    REGISTER,
    REMEMBER,
    RECALL,
    DEF_CFA,
    DEF_CFA_REGISTER,
    DEF_CFA_OFFSET,
    DEF_CFA_EXPRESSION,
    EXPRESSION,
    OFFSET_EXTENDED_SF,
    DEF_CFA_SF,
    DEF_CFA_OFFSET_SF,
    VAL_OFFSET,
    VAL_OFFSET_SF,
    VAL_EXPRESSION,
    ARGS_SIZE = 0x2e
};
/* Registers of x86-64. */
enum { RBP = 6, RSP = 7, RETURN = 16 };
/* How pointers are written. */
enum { ENCODED_PCREL = 0x10, ENCODED_OMIT = 0xff, ENCODED_FORMAT = 0x0f, ENCODED_BASE = 0x70 };
enum { REMEMBERED = 16, CIE_MOST = 512 /* bytes; it is read again for each function */ };

/* What a stub of the procedure linkage table has: the CFA is 8 bytes above rsp, or 16 in the stub's
 * last part. */
static const unsigned char plt[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                    0x3b, 0x2a, 0x33, 0x24, 0x22};

static uint64_t fixed(struct rdr *in, unsigned n)
{
    const unsigned char *p = rdr_bytes(in, n);
    uint64_t v = 0;
    for (unsigned i = 0; p != NULL && i < n; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static uint64_t leb(struct rdr *in, bool is_signed)
{
    uint64_t v = 0;
    unsigned shift = 0;
    unsigned char byte;
    do {
        byte = (unsigned char)fixed(in, 1);
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0 && !in->bad);
    if (is_signed && shift < 64 && (byte & 0x40) != 0)
        v |= ~0ull << shift;
    return v;
}

static uint64_t uleb(struct rdr *in)
{
    return leb(in, false);
}

static int64_t sleb(struct rdr *in)
{
    return (int64_t)leb(in, true);
}

/* Returns n bytes in place, NULL if there are fewer. */
static const unsigned char *take(struct rdr *in, uint64_t n)
{
    return rdr_bytes(in, n <= SIZE_MAX ? (size_t)n : SIZE_MAX);
}

/* Reads a pointer, which is stored at the address `at`. */
static uint64_t pointer(struct rdr *in, unsigned encoding, uint64_t at)
{
    uint64_t v = 0;
    switch (encoding & ENCODED_FORMAT) {
    case 0x0:
    case 0x4:
    case 0xc: v = fixed(in, 8); break;
    case 0x1: v = uleb(in); break;
    case 0x2: v = fixed(in, 2); break;
    case 0x3: v = fixed(in, 4); break;
    case 0x9: v = (uint64_t)sleb(in); break;
    case 0xa: v = (uint64_t)(int16_t)fixed(in, 2); break;
    case 0xb: v = (uint64_t)(int32_t)fixed(in, 4); break;
    default: in->bad = true;
    }
    switch (encoding & ENCODED_BASE) {
    case 0: return v;
    case ENCODED_PCREL: return v + at;
    default: in->bad = true; return 0;
    }
}

/* What several functions have in common. */
struct cie {
    const unsigned char *at, *first, *end; /* itself; its instructions */
    uint64_t code, ra;
    int64_t data;
    unsigned encoding;
    bool augmented, signal;
};

/* What is known at one instruction. */
struct state {
    uint8_t kind; /* enum kframe_kind */
    int64_t cfa;
    int64_t rbp; /* 0: not saved */
    bool lost;   /* rbp is somewhere else */
    bool ends;   /* there is no caller */
    bool far;    /* the return address is not right below the CFA */
};

struct section {
    const unsigned char *bytes;
    size_t n;
    uint64_t address;
    struct kcfi *to;
    struct cie cie; /* the one that was read last */
    bool oom;
};

static bool read_cie(struct section *s, const unsigned char *at, struct cie *c)
{
    struct rdr in = {at, s->bytes + s->n, false};
    const uint64_t length = fixed(&in, 4);
    if (length < 4 || length > CIE_MOST || length > rdr_left(&in))
        return false;
    in.end = in.p + length;
    *c = (struct cie){.at = at, .end = in.end, .encoding = 0};
    if (fixed(&in, 4) != 0)
        return false;
    const uint64_t version = fixed(&in, 1);
    const char *augmentation = (const char *)in.p;
    const unsigned char *nul = memchr(in.p, 0, (size_t)(in.end - in.p));
    if ((version != 1 && version != 3) || nul == NULL)
        return false;
    in.p = nul + 1;
    c->code = uleb(&in);
    c->data = sleb(&in);
    c->ra = version == 1 ? fixed(&in, 1) : uleb(&in);
    c->augmented = augmentation[0] == 'z';
    if (!c->augmented && augmentation[0] != '\0')
        return false;
    if (c->augmented) {
        const uint64_t n = uleb(&in);
        struct rdr a = in;
        take(&in, n);
        a.end = in.p;
        for (const char *p = augmentation + 1; *p != '\0' && !in.bad; p++) {
            if (*p == 'R') {
                c->encoding = (unsigned)fixed(&a, 1);
            } else if (*p == 'L') {
                fixed(&a, 1);
            } else if (*p == 'P') {
                const unsigned encoding = (unsigned)fixed(&a, 1);
                pointer(&a, encoding & ENCODED_FORMAT, 0);
            } else if (*p == 'S') {
                c->signal = true;
            } else {
                break; /* what follows is not known, and may be skipped */
            }
        }
        in.bad |= a.bad;
    }
    c->first = in.p;
    return !in.bad && c->ra == RETURN;
}

/* -- rows -------------------------------------------------------------------------------------- */

static void add(struct section *s, uint64_t pc, const struct state *now)
{
    struct kcfi *t = s->to;
    if (s->oom || t->n >= KCFI_ROWS || pc > UINT32_MAX)
        return;
    if (t->n == t->cap) {
        const size_t cap = t->cap ? t->cap * 2 : 4096;
        void *p = et_rearray(t->row, cap, sizeof *t->row);
        if (p == NULL) {
            s->oom = true;
            return;
        }
        t->row = p;
        t->cap = cap;
    }
    struct kframe r = {.pc = (uint32_t)pc, .kind = now->kind, .cfa = (int32_t)now->cfa};
    if (now->cfa != r.cfa || now->far)
        r.kind = KFRAME_OTHER;
    if (now->ends)
        r.kind = KFRAME_END;
    if (now->lost)
        r.rbp = KFRAME_LOST;
    else if (now->rbp > KFRAME_LOST && now->rbp <= INT16_MAX)
        r.rbp = (int16_t)now->rbp;
    else
        r.rbp = KFRAME_LOST;
    if (r.kind != KFRAME_RSP && r.kind != KFRAME_RBP)
        r.cfa = r.rbp = 0;
    t->row[t->n++] = r;
}

/* Notes where a function lies. */
static void add_function(struct section *s, uint64_t at, uint64_t size)
{
    struct kcfi *t = s->to;
    if (s->oom || t->nfuncs >= KCFI_FUNCS)
        return;
    if (t->nfuncs == t->capfuncs) {
        const size_t cap = t->capfuncs ? t->capfuncs * 2 : 1024;
        void *p = et_rearray(t->func, cap, sizeof *t->func);
        if (p == NULL) {
            s->oom = true;
            return;
        }
        t->func = p;
        t->capfuncs = cap;
    }
    t->func[t->nfuncs++] = (struct kextent){(uint32_t)at, (uint32_t)size};
}

/* -- instructions ------------------------------------------------------------------------------ */

static int64_t scaled(uint64_t n, int64_t by)
{
    return (int64_t)(n * (uint64_t)by);
}

static void cfa_is(struct state *now, uint64_t reg, int64_t offset)
{
    now->kind = reg == RSP ? KFRAME_RSP : reg == RBP ? KFRAME_RBP : KFRAME_OTHER;
    now->cfa = offset;
}

static void saved(struct state *now, uint64_t reg, int64_t offset)
{
    if (reg == RBP) {
        now->rbp = offset;
        now->lost = false;
    } else if (reg == RETURN) {
        now->far = offset != -8;
    }
}

/* The register has another rule than a place relative to the CFA. */
static void elsewhere(struct state *now, uint64_t reg)
{
    if (reg == RBP)
        now->lost = true;
    else if (reg == RETURN)
        now->far = true;
}

static void restored(struct state *now, const struct state *first, uint64_t reg)
{
    if (reg == RBP) {
        now->rbp = first->rbp;
        now->lost = first->lost;
    } else if (reg == RETURN) {
        now->ends = first->ends;
        now->far = first->far;
    }
}

struct execution {
    struct section *s;
    const struct cie *cie;
    struct state now, first, stack[REMEMBERED];
    unsigned depth;
    uint64_t pc;
    bool emit;
};

static void advance(struct execution *r, uint64_t by)
{
    if (r->emit)
        add(r->s, r->pc, &r->now);
    r->pc += by * r->cie->code;
}

static void expression(struct execution *r, struct rdr *in)
{
    const uint64_t n = uleb(in);
    const unsigned char *p = take(in, n);
    r->now.kind =
        p != NULL && n == sizeof plt && memcmp(p, plt, n) == 0 ? KFRAME_PLT : KFRAME_OTHER;
    r->now.cfa = 0;
}

static void instruction(struct execution *r, struct rdr *in)
{
    const unsigned op = (unsigned)fixed(in, 1), low = op & 0x3f;
    struct state *now = &r->now;
    const int64_t data = r->cie->data;
    uint64_t reg;
    if (op >> 6 == ADVANCE) {
        advance(r, low);
        return;
    }
    if (op >> 6 == OFFSET) {
        saved(now, low, scaled(uleb(in), data));
        return;
    }
    if (op >> 6 == RESTORE) {
        restored(now, &r->first, low);
        return;
    }
    switch (op) {
    case NOP: break;
    case SET_LOC: in->bad = true; break; /* no compiler for this machine writes it */
    case ADVANCE_1: advance(r, fixed(in, 1)); break;
    case ADVANCE_2: advance(r, fixed(in, 2)); break;
    case ADVANCE_4: advance(r, fixed(in, 4)); break;
    case OFFSET_EXTENDED:
        reg = uleb(in);
        saved(now, reg, scaled(uleb(in), data));
        break;
    case OFFSET_EXTENDED_SF:
        reg = uleb(in);
        saved(now, reg, scaled((uint64_t)sleb(in), data));
        break;
    case RESTORE_EXTENDED: restored(now, &r->first, uleb(in)); break;
    case UNDEFINED:
        reg = uleb(in);
        if (reg == RETURN)
            now->ends = true;
        else
            elsewhere(now, reg);
        break;
    case SAME_VALUE:
        reg = uleb(in);
        if (reg == RBP)
            saved(now, reg, 0);
        break;
    case REGISTER:
        elsewhere(now, uleb(in));
        uleb(in);
        break;
    case REMEMBER:
        if (r->depth == REMEMBERED)
            in->bad = true;
        else
            r->stack[r->depth++] = *now;
        break;
    case RECALL:
        if (r->depth == 0)
            in->bad = true;
        else
            *now = r->stack[--r->depth];
        break;
    case DEF_CFA:
        reg = uleb(in);
        cfa_is(now, reg, (int64_t)uleb(in));
        break;
    case DEF_CFA_SF:
        reg = uleb(in);
        cfa_is(now, reg, scaled((uint64_t)sleb(in), data));
        break;
    case DEF_CFA_REGISTER: cfa_is(now, uleb(in), now->cfa); break;
    case DEF_CFA_OFFSET: now->cfa = (int64_t)uleb(in); break;
    case DEF_CFA_OFFSET_SF: now->cfa = scaled((uint64_t)sleb(in), data); break;
    case DEF_CFA_EXPRESSION: expression(r, in); break;
    case EXPRESSION:
    case VAL_EXPRESSION:
        elsewhere(now, uleb(in));
        take(in, uleb(in));
        break;
    case VAL_OFFSET:
        elsewhere(now, uleb(in));
        uleb(in);
        break;
    case VAL_OFFSET_SF:
        elsewhere(now, uleb(in));
        sleb(in);
        break;
    case ARGS_SIZE: uleb(in); break;
    default: in->bad = true;
    }
}

static bool is_spent(const struct section *s)
{
    return s->to->followed / KCFI_FOLLOWED >= s->n;
}

static bool run(struct execution *r, const unsigned char *from, const unsigned char *to)
{
    struct rdr in = {from, to, false};
    for (; in.p < in.end && !in.bad && !is_spent(r->s); r->s->to->followed++)
        instruction(r, &in);
    return !in.bad && in.p >= in.end;
}

/* Reads what one function has: its range and its instructions. */
static void read_fde(struct section *s, struct rdr in, const struct cie *c)
{
    const uint64_t at = s->address + (uint64_t)(in.p - s->bytes);
    const uint64_t start = pointer(&in, c->encoding, at);
    const uint64_t n = pointer(&in, c->encoding & ENCODED_FORMAT, 0);
    if (c->augmented)
        take(&in, uleb(&in));
    if (in.bad || n == 0 || n > UINT32_MAX || start > UINT32_MAX - n)
        return;
    add_function(s, start, n);
    struct execution r = {.s = s, .cie = c, .now = {.kind = KFRAME_OTHER}, .pc = start};
    const size_t rows = s->to->n;
    bool good = run(&r, c->first, c->end);
    r.first = r.now;
    r.emit = true;
    if (c->signal)
        r.now.kind = KFRAME_OTHER;
    good = good && run(&r, in.p, in.end);
    if (!good) { /* nothing of it is believed */
        s->to->n = rows;
        r.now = (struct state){.kind = KFRAME_OTHER};
        r.pc = start;
    }
    add(s, r.pc, &r.now);
    add(s, start + n, &(struct state){.kind = KFRAME_NONE});
}

/* By address; of two rows for one address the one behind which nothing is known is first, as
 * another function begins there. */
static int by_address(const void *a, const void *b)
{
    const struct kframe *x = a, *y = b;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return (y->kind == KFRAME_NONE) - (x->kind == KFRAME_NONE);
}

static int by_begin(const void *a, const void *b)
{
    const struct kextent *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Sorts, and leaves out what says the same as the row before it. */
static void tidy(struct kcfi *t)
{
    size_t n = 0;
    if (t->nfuncs > 0)
        qsort(t->func, t->nfuncs, sizeof *t->func, by_begin);
    if (t->n > 0)
        qsort(t->row, t->n, sizeof *t->row, by_address);
    for (size_t i = 0; i < t->n; i++) {
        const struct kframe *r = &t->row[i];
        if (n > 0 && t->row[n - 1].pc == r->pc)
            n--;
        if (n > 0 && t->row[n - 1].kind == r->kind && t->row[n - 1].cfa == r->cfa &&
            t->row[n - 1].rbp == r->rbp)
            continue;
        t->row[n++] = *r;
    }
    t->n = n;
}

bool kcfi_read(struct kcfi *t, const unsigned char *section, size_t n, uint64_t address)
{
    struct section s = {.bytes = section, .n = n, .address = address, .to = t};
    bool known = false;
    *t = (struct kcfi){.n = 0};
    for (size_t at = 0; n - at >= 8 && !is_spent(&s);) {
        struct rdr in = {section + at, section + n, false};
        const uint64_t length = fixed(&in, 4);
        if (length == 0 || length == UINT32_MAX || length > rdr_left(&in))
            break;
        in.end = in.p + length;
        const uint64_t back = (uint64_t)(in.p - section), id = fixed(&in, 4);
        if (id != 0 && id <= back && !in.bad) { /* what refers to no CIE is one */
            const unsigned char *cie = section + (back - id);
            if (s.cie.at != cie)
                known = read_cie(&s, cie, &s.cie);
            if (known)
                read_fde(&s, in, &s.cie);
        }
        at += 4 + (size_t)length;
    }
    if (s.oom)
        kcfi_free(t);
    tidy(t);
    return !s.oom;
}

void kcfi_free(struct kcfi *t)
{
    et_free(t->row);
    et_free(t->func);
    *t = (struct kcfi){.n = 0};
}
