/* mutate.c - the mutator of images: one is decoded, changed in one to four places, and encoded;
 * where it has to be sound it is taken only if the verifier accepts it. Bytes changed at random
 * would hardly ever be accepted. What stands behind the image is changed as bytes. */
#include "mutate.h"

#include "lang/encode.h"
#include "fuzz.h"

enum { LENGTH_AT = 12, TRIES = 16, CHANGES_MOST = 4, TABLE_ROOM = 4096 };

size_t image_length(const uint8_t *data, size_t size)
{
    uint32_t len = 0;
    if (size >= LENGTH_AT + sizeof len)
        memcpy(&len, data + LENGTH_AT, sizeof len);
    return len > 0 && len < size ? len : size;
}

void image_set_length(uint8_t *data, size_t size)
{
    uint32_t len = (uint32_t)size;
    if (size >= LENGTH_AT + sizeof len)
        memcpy(data + LENGTH_AT, &len, sizeof len);
}

static uint64_t rnd_state;

static uint32_t rnd(uint32_t n)
{
    rnd_state = rnd_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return n > 0 ? (uint32_t)(rnd_state >> 33) % n : 0;
}

/* A number near one of the places where arithmetic goes wrong. */
static uint64_t number(void)
{
    static const uint64_t edges[] = {0,         1,         2,          16,         255,
                                     256,       4096,      65535,      65536,      INT32_MAX,
                                     INT64_MAX, INT64_MIN, UINT32_MAX, UINT64_MAX, 1000000000};
    if (rnd(4) == 0)
        return (uint64_t)rnd(UINT32_MAX) << rnd(33);
    return edges[rnd(sizeof edges / sizeof *edges)] + rnd(5) - 2;
}

/* A larger copy of a table, with room for one more. */
static void *grown(struct dif_image *img, const void *table, uint32_t n, size_t size)
{
    char *p = arena_alloc(&img->arena, (n + 1) * size);
    if (p != NULL && n > 0)
        memcpy(p, table, n * size);
    return p;
}

static struct dif_type a_type(const struct dif_image *img)
{
    static const uint8_t ints[] = {1, 2, 4, 8};
    static const uint32_t bytes[] = {0, 1, 4, 7, 8, 16, 24, 256, 4096, WORD_BYTES_MAX};
    struct dif_type t = {.kind = (uint8_t)(DIF_INT + rnd(rnd(4) ? 5 : DIF_NKINDS - 1))};
    t.size = t.kind <= DIF_UINT     ? ints[rnd(4)]
             : t.kind == DIF_STRING ? (rnd(2) ? img->strsize : 1 + rnd(img->strsize))
                                    : bytes[rnd(sizeof bytes / sizeof *bytes)];
    return t;
}

static void keys(struct dif_image *img, struct dif_keys *k)
{
    const bool most = rnd(16) == 0; /* as many as there can be, as large as they can be */
    k->n = most ? WORD_KEYS_MAX : (uint8_t)rnd(rnd(4) == 0 ? WORD_KEYS_MAX + 1 : 4);
    for (unsigned i = 0; i < k->n; i++)
        k->key[i] = most ? (struct dif_type){DIF_STRING, img->strsize} : a_type(img);
}

/* An instruction with fields that could be right. */
static uint32_t instruction(const struct dif_image *img, const struct dif_clause *c, uint32_t pc)
{
    static const uint8_t ops[] = {
#define DIF_OP(num, name, fmt, text) num,
#include "dif/opcodes.list"
#undef DIF_OP
    };
    static const uint8_t subrs[] = {
#define WORD_SUBR(num, name, args, result, min, max, tiers, d) num,
#include "words/subrs.list"
#undef WORD_SUBR
    };
    enum dif_op op = (enum dif_op)ops[rnd(sizeof ops)];
    unsigned a = rnd(rnd(4) == 0 ? DIF_NREGS : 4), b = rnd(4), d = rnd(4);
    switch (op) {
    case DIF_OP_NOP:
    case DIF_OP_RET:
    case DIF_OP_FLUSHTS:
    case DIF_OP_RECB:
    case DIF_OP_RECE:
    case DIF_OP_EXIT: return dif_abc(op, 0, 0, 0);
    case DIF_OP_SETI: return dif_ai(op, a, (unsigned)number());
    case DIF_OP_SETX:
    case DIF_OP_BOUND: return dif_ai(op, a, rnd(img->nints));
    case DIF_OP_SETS: return dif_ai(op, a, rnd(img->nstr));
    case DIF_OP_LDARG: return dif_abc(op, a, 0, rnd(10));
    case DIF_OP_LDB:
    case DIF_OP_LDBA: return dif_ai(op, a, rnd(DIF_NBUILTINS));
    case DIF_OP_CALL: return dif_ai(op, a, subrs[rnd(sizeof subrs)]);
    case DIF_OP_REC: return dif_ai(op, a, rnd(c->nparts));
    case DIF_OP_RECN: return dif_ai(op, 0, rnd(c->nsubs));
    case DIF_OP_AGG: return dif_ai(op, 0, rnd(img->naggs));
    case DIF_OP_EXTS:
    case DIF_OP_EXTU: return dif_abc(op, a, b, 1u << rnd(3));
    case DIF_OP_TST:
    case DIF_OP_PUSHTR:
    case DIF_OP_PUSHTV:
    case DIF_OP_SPEC:
    case DIF_OP_COMMIT:
    case DIF_OP_DISCARD: return dif_abc(op, a, 0, 0);
    case DIF_OP_CMP:
    case DIF_OP_SCMP:
    case DIF_OP_STB:
    case DIF_OP_STH:
    case DIF_OP_STW:
    case DIF_OP_STX:
    case DIF_OP_NOT:
    case DIF_OP_MOV: return dif_abc(op, a, b, 0);
    default: break;
    }
    if (op >= DIF_OP_BA && op <= DIF_OP_BLEU)
        return dif_t(op, pc + 1 + rnd(c->ncode - pc));
    if (op >= DIF_OP_LDSB && op <= DIF_OP_LDX)
        return dif_abc(op, a, b, 0);
    if (op >= DIF_OP_LDGS && op <= DIF_OP_ADDTAA)
        return dif_ai(op, a, rnd(img->nvars));
    return dif_abc(op, a, b, d);
}

/* Makes room for an instruction in front of instruction pc of a clause. */
static void insert(struct dif_image *img, struct dif_clause *c, uint32_t pc)
{
    uint32_t *code = grown(img, img->code, img->ncode, sizeof *code), at = c->code + pc;
    if (code == NULL)
        return;
    memmove(code + at + 1, code + at, (img->ncode - at) * sizeof *code);
    img->code = code;
    img->ncode++;
    c->ncode++;
    c->npred += pc < c->npred;
    for (uint32_t i = 0; i < img->nclauses; i++)
        img->clauses[i].code += img->clauses[i].code > c->code;
    for (uint32_t i = 0; i < c->ncode; i++) {
        uint32_t *in = &code[c->code + i], op = *in >> 24;
        if (i != pc && op >= DIF_OP_BA && op <= DIF_OP_BLEU && (*in & 0xffffff) > pc)
            (*in)++;
    }
    for (uint32_t i = 0; i < c->nactions; i++) {
        struct dif_action *a = &img->actions[c->action + i];
        if (a->pc > pc)
            a->pc++;
        else if (pc < a->pc + a->npc)
            a->npc++;
    }
    code[at] = instruction(img, c, pc);
}

static void change_code(struct dif_image *img)
{
    struct dif_clause *c = &img->clauses[rnd(img->nclauses)];
    if (c->code >= img->ncode || c->ncode < 2 || c->ncode > img->ncode - c->code ||
        c->action > img->nactions || c->nactions > img->nactions - c->action)
        return; /* it is not sound */
    uint32_t pc = rnd(c->ncode - 1), *in = &img->code[c->code + pc];
    switch (rnd(6)) {
    case 0: *in = instruction(img, c, pc); break;
    case 1: *in = dif_abc(DIF_OP_NOP, 0, 0, 0); break;
    case 2: *in ^= 1u << rnd(24); break;
    default:
        if (img->ncode < TABLE_ROOM)
            insert(img, c, pc);
    }
}

static void change_variable(struct dif_image *img)
{
    struct dif_var *v = img->nvars > 0 ? &img->vars[rnd(img->nvars)] : NULL;
    if (v == NULL || (rnd(3) == 0 && img->nvars < TABLE_ROOM)) {
        struct dif_var *vars = grown(img, img->vars, img->nvars, sizeof *vars);
        if (vars == NULL)
            return;
        img->vars = vars;
        v = &vars[img->nvars++];
        *v = (struct dif_var){.scope = (uint8_t)(DIF_GLOBAL + rnd(3)), .type = a_type(img)};
    }
    switch (rnd(4)) {
    case 0: v->type = a_type(img); break;
    case 1: v->scope = (uint8_t)(DIF_GLOBAL + rnd(3)); break;
    case 2: keys(img, &v->keys); break;
    default: break;
    }
    v->assoc = v->keys.n > 0;
}

static void change_aggregation(struct dif_image *img)
{
    struct dif_agg *a = &img->aggs[rnd(img->naggs)];
    if (img->naggs == 0)
        return;
    switch (rnd(3)) {
    case 0: a->func = (uint8_t)(AGG_COUNT + rnd(AGG_LLQUANTIZE)); break;
    case 1: keys(img, &a->keys); break;
    default: a->param[rnd(4)] = rnd(2) ? (int64_t)number() : (int64_t)rnd(20);
    }
}

static void change_int(struct dif_image *img)
{
    if (img->nints == 0 || rnd(4) == 0) {
        uint64_t *ints = grown(img, img->ints, img->nints, sizeof *ints);
        if (ints == NULL || img->nints >= TABLE_ROOM)
            return;
        img->ints = ints;
        ints[img->nints++] = number();
    } else {
        img->ints[rnd(img->nints)] = number();
    }
}

static void change_string(struct dif_image *img)
{
    char *s = grown(img, img->strtab, img->strtab_len, 1);
    if (s == NULL || img->strtab_len == 0)
        return;
    s[rnd(img->strtab_len)] = (char)(rnd(3) ? ' ' + rnd(95) : rnd(256));
    s[img->strtab_len - 1] = '\0';
    img->strtab = s;
}

static void fit_type(struct dif_type *t, uint32_t before, uint32_t now)
{
    if (t->kind == DIF_STRING && (t->size == before || t->size > now))
        t->size = now;
}

static void fit_keys(struct dif_keys *k, uint32_t before, uint32_t now)
{
    for (unsigned i = 0; i < k->n; i++)
        fit_type(&k->key[i], before, now);
}

/* Another strsize, with the strings that have had it, or are too long now. */
static void change_strsize(struct dif_image *img)
{
    const uint32_t before = img->strsize;
    const uint32_t some[] = {DIF_STRSIZE_LEAST, 3,           8, 255, 4096, DIF_STRSIZE_MOST - 1,
                             DIF_STRSIZE_MOST,  2 + rnd(300)};
    img->strsize = rnd(8) == 0 ? (uint32_t)number() : some[rnd(sizeof some / sizeof *some)];
    for (uint32_t i = 0; i < img->nvars; i++) {
        fit_type(&img->vars[i].type, before, img->strsize);
        fit_keys(&img->vars[i].keys, before, img->strsize);
    }
    for (uint32_t i = 0; i < img->naggs; i++)
        fit_keys(&img->aggs[i].keys, before, img->strsize);
    for (uint32_t i = 0; i < img->nparts; i++)
        fit_type(&img->parts[i], before, img->strsize);
}

static void change(struct dif_image *img)
{
    if (img->nclauses == 0)
        return;
    switch (rnd(12)) {
    case 0: change_variable(img); break;
    case 1: change_aggregation(img); break;
    case 2: change_int(img); break;
    case 3: change_string(img); break;
    case 4:
        if (img->nparts > 0)
            img->parts[rnd(img->nparts)] = a_type(img);
        break;
    case 5: change_strsize(img); break;
    case 6:
        img->scratchsize = rnd(3) == 0   ? DIF_SCRATCH_MOST
                           : rnd(2) == 0 ? rnd(300)
                                         : (uint32_t)number();
        break;
    default: change_code(img);
    }
}

/* Changes the image; the bytes in out. False: it is not sound any more. */
static bool change_image(enum word_tier tier, const uint8_t *data, size_t size, bool sound,
                         struct buf *out)
{
    struct dif_image img;
    struct diags d;
    diags_init(&d);
    dif_image_init(&img);
    bool ok = dif_decode(&img, data, size, &d) == 0;
    if (ok) {
        img.builtins = (UINT64_C(1) << DIF_NBUILTINS) - 1;
        for (uint32_t i = 1 + rnd(CHANGES_MOST); i > 0; i--)
            change(&img);
        ok = (!sound || dif_verify_for(&img, tier, &d) == 0) && dif_encode(&img, out) == 0;
    }
    dif_image_free(&img);
    diags_free(&d);
    return ok;
}

size_t mutate(uint8_t *data, size_t size, size_t max, unsigned seed, bool sound)
{
    return mutate_for(WORD_LOCAL, data, size, max, seed, sound);
}

size_t cross_over(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, uint8_t *out,
                  size_t max, unsigned seed)
{
    size_t image = image_length(a, na), from = image_length(b, nb);
    size_t n = nb - from;
    (void)seed;
    if (image > max)
        return 0;
    n = n < max - image ? n : max - image;
    memcpy(out, a, image);
    memcpy(out + image, b + from, n);
    return image + n;
}

size_t mutate_for(enum word_tier tier, uint8_t *data, size_t size, size_t max, unsigned seed,
                  bool sound)
{
    size_t len = image_length(data, size);
    rnd_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (rnd(3) == 0) /* what is behind it */
        return len + LLVMFuzzerMutate(data + len, size - len, max - len);
    for (int tries = 0; tries < TRIES; tries++) {
        struct buf out = BUF_INIT;
        bool ok = change_image(tier, data, len, sound, &out) && out.len + (size - len) <= max;
        if (ok) {
            memmove(data + out.len, data + len, size - len);
            memcpy(data, out.data, out.len);
            size += out.len - len;
        }
        buf_free(&out);
        if (ok)
            return size;
    }
    return len + LLVMFuzzerMutate(data + len, size - len, max - len);
}
