/* dif.h - DIF, the form into which D is compiled: instructions, program image, its binary form
 * and verifier.
 *
 * A program image is one flat set of tables. The compiler makes it, `dif_encode` turns it into
 * bytes, `dif_decode` turns untrusted bytes back into tables, and `dif_verify` decides whether an
 * engine may run it. The result of dif_decode is only memory-safe to inspect; what has passed
 * dif_verify is safe to run.
 *
 * Machine: 16 registers of 64 bits, a compare result, and a tuple of at most 16 values. When a
 * clause starts the tuple is empty and the registers are undefined; the verifier ensures that none
 * is read before it is set. Branches only go forward, so every clause ends.
 *
 * A clause's code is [predicate][RECB][statements] RET. Records: after RECB the REC instructions
 * write the clause's parts in order; RET commits them; a fault, or leaving early, drops the whole
 * record.
 *
 * A clause with branches (if/else) is cut into sub-clauses, each a run of statements that no branch
 * enters or leaves. Each sub-clause that records has its own record, RECN to RECE, so that every
 * record has one layout on every path. What was committed before a fault stays.
 *
 * Strings are addresses of NUL-terminated bytes; 0 is NULL. Every address that an instruction makes
 * is in the string table, in scratch, or in a probe argument; nothing else can be read. */
#ifndef ET_DIF_DIF_H
#define ET_DIF_DIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "words/words.h"

#define DIF_MAGIC "erlt-dif" /* the first bytes of the binary form */
enum {
    DIF_MAGIC_BYTES = sizeof DIF_MAGIC - 1,
    DIF_SPECS_MAX = 16, /* option nspec */
    DIF_VERSION = 5,    /* version of the binary form and of the instruction numbers */
    DIF_STRSIZE_LEAST = 2,
    DIF_STRSIZE_MOST = 1 << 20,  /* option strsize */
    DIF_SCRATCH_MOST = 16 << 20, /* option scratchsize */
    DIF_BUDGET = 192 << 10,      /* option eventbudget, units of work: see engine.h */
    DIF_BUDGET_LEAST = 1 << 10,
    DIF_BUDGET_MOST = 64 << 20,
    DIF_NREGS = 16,         /* integer registers */
    DIF_TUPLE_MAX = 16,     /* values in the tuple */
    DIF_CLAUSE_MAX = 65536, /* instructions in one clause */
};

enum dif_op {
#define DIF_OP(num, name, fmt, text) DIF_OP_##name = num,
#include "dif/opcodes.list"
#undef DIF_OP
};
enum dif_builtin {
#define WORD_BUILTIN(num, name, shape, type, tiers, since, text) DIF_BUILTIN_##name = num,
#include "words/builtins.list"
#undef WORD_BUILTIN
    DIF_NBUILTINS
};
enum dif_subr {
#define WORD_SUBR(num, name, args, result, min, max, tiers, d) DIF_SUBR_##name = num,
#include "words/subrs.list"
#undef WORD_SUBR
    DIF_NSUBRS
};

/* What the subroutine keep() keeps for whoever an event is passed on to, by number. */
enum dif_kept {
    DIF_KEPT_ERLPID,
    DIF_KEPT_ERLNAME,
    DIF_KEPT_ERLFUNC,
    DIF_KEPT_USTACK,
    DIF_KEPT_ASKED,                  /* those so far are 0 if the program does not keep them */
    DIF_KEPT_LOWER = DIF_KEPT_ASKED, /* 1: it has read a lower bound */
    DIF_KEPT_NAME,                   /* of the probe */
    DIF_KEPT_OWN,                    /* the program's, from here on */
    DIF_KEPT_MOST = 64
};

#define DIF_WHOLE UINT64_MAX /* index of LDBA: argv as a whole, a list */

struct dif_builtin_info {
    const char *name;
    uint8_t tiers; /* set of enum word_tier */
    bool array;    /* read by LDBA, not by LDB */
    bool terms;    /* leads to a value of the traced program */
};
struct dif_subr_info {
    const char *name;
    const char *args; /* letters of subrs.list */
    char result;
    uint8_t min, max;
    uint8_t tiers; /* set of enum word_tier */
    bool terms;    /* takes or returns a value of the traced program */
};
const struct dif_builtin_info *dif_builtin_info(unsigned builtin); /* NULL: no such number */
const struct dif_subr_info *dif_subr_info(unsigned subr);          /* likewise */

static inline uint32_t dif_abc(enum dif_op op, unsigned a, unsigned b, unsigned c)
{
    return (uint32_t)op << 24 | (a & 255u) << 16 | (b & 255u) << 8 | (c & 255u);
}
static inline uint32_t dif_ai(enum dif_op op, unsigned a, unsigned imm)
{
    return (uint32_t)op << 24 | (a & 255u) << 16 | (imm & 65535u);
}
static inline uint32_t dif_t(enum dif_op op, uint32_t target)
{
    return (uint32_t)op << 24 | (target & 0xffffffu);
}

/* The type of a value that is stored, recorded or used as a key. */
enum dif_kind {
#define WORD_KIND(num, name, text, tiers, d) DIF_##name = num,
#include "words/kinds.list"
#undef WORD_KIND
    DIF_NKINDS
};
struct dif_type {
    uint8_t kind;  /* enum dif_kind */
    uint32_t size; /* bytes, see kinds.list; at most WORD_BYTES_MAX */
};
struct dif_kind_info {
    const char *name;
    uint8_t tiers; /* set of enum word_tier */
};
const struct dif_kind_info *dif_kind_info(unsigned kind); /* NULL: no such kind */

/* A key signature. */
struct dif_keys {
    uint8_t n; /* at most WORD_KEYS_MAX */
    struct dif_type key[WORD_KEYS_MAX];
};

enum dif_scope { DIF_GLOBAL = 1, DIF_THREAD = 2, DIF_CLAUSE = 3 };
struct dif_var {
    uint32_t name; /* string index, for messages */
    uint8_t scope; /* enum dif_scope */
    bool assoc;    /* has keys */
    struct dif_type type;
    struct dif_keys keys; /* of an associative array; n = 0 otherwise */
};

struct dif_agg {
    uint32_t name; /* string index, "_" for the anonymous one */
    uint8_t func;  /* enum word_agg */
    struct dif_keys keys;
    /* lquantize: base, limit, step. llquantize: factor, low, high, steps. Otherwise 0. */
    int64_t param[4];
};
/* Returns how many values AGG takes from the tuple after the keys: 0 for count, 1, or 2 (value,
 * increment) for the three quantizers. */
unsigned dif_agg_nargs(uint8_t func);
/* Returns the number of 64-bit words of an aggregation's value. count, sum, min, max: the value.
 * avg: count, sum. stddev: count, sum, sum of squares (low word, high word). quantize: 127 buckets;
 * DIF_QUANTIZE_ZERO is that of 0. lquantize: levels + 2. llquantize: see dif_llq_nbuckets. 0 when
 * the parameters are invalid. */
unsigned dif_agg_words(const struct dif_agg *a);

enum { DIF_QUANTIZE_BUCKETS = 127, DIF_QUANTIZE_ZERO = 63 };
/* Return bucket numbers, by the rules of language.md 7.1. The engine and the consumer both use
 * these, so that they cannot disagree. The buckets' lower bounds ("labels") are in result/label.h.
 */
unsigned dif_quantize_bucket(int64_t v);
unsigned dif_lquantize_levels(int64_t base, int64_t limit, int64_t step);
unsigned dif_lquantize_bucket(int64_t v, int64_t base, int64_t limit, int64_t step);
/* llquantize, buckets in ascending order of value: overflow below (<= -X), the negative magnitudes
 * (each steps - steps/factor bins) from large to small, the underflow bin (|v| < factor^low), the
 * positive magnitudes, overflow above (>= X). One magnitude has n = steps - steps/factor bins of
 * width factor^(m+1)/steps (as integers: language.md 7.1); there are n * (high - low + 1) bins per
 * side. */
unsigned dif_llq_nbuckets(int64_t factor, int64_t low, int64_t high, int64_t steps);
unsigned dif_llq_bucket(int64_t v, int64_t factor, int64_t low, int64_t high, int64_t steps);
/* Returns the number of bins of one magnitude. */
static inline uint64_t dif_llq_bins(int64_t factor, int64_t steps)
{
    return (uint64_t)(steps - steps / factor);
}

struct dif_action_info {
    const char *name;
    uint8_t tiers; /* set of enum word_tier */
    bool destructive;
    uint32_t parts_least, parts_most;
    uint32_t refs_least, refs_most;
};
const struct dif_action_info *dif_action_info(unsigned kind); /* NULL: no such kind */

enum { DIF_NO_STRING = 0xffffffffu };
struct dif_action {
    uint8_t kind;          /* enum word_action */
    uint32_t pc, npc;      /* its instructions, within the clause's code */
    uint32_t part, nparts; /* its parts, index into the image's parts */
    uint32_t ref, nrefs;   /* its aggregations, index into the image's refs */
    uint32_t format;       /* string index, or DIF_NO_STRING */
    uint32_t line, col;    /* position in the clause's source */
};

/* A sub-clause that records: its actions, and their parts. */
struct dif_sub {
    uint32_t action, nactions; /* index into the image's actions; at least one */
    uint32_t part, nparts;     /* index into the image's parts */
};

struct dif_clause {
    uint32_t prov, mod, func,
        name;                  /* string indexes of the probe description's four parts ("" = any) */
    uint32_t id;               /* not 0: the description is this probe id and the parts are "" */
    uint32_t file, line, col;  /* of the description: string index, 1-based */
    uint32_t code, ncode;      /* its instructions, index into the image's code */
    uint32_t npred;            /* of which the first npred evaluate the predicate */
    uint32_t action, nactions; /* index into the image's actions, in execution order */
    uint32_t part, nparts;     /* all parts of all its actions, in order: the record layout */
    uint32_t sub, nsubs; /* sub-clauses that record, in order; 0: there is at most one record */
    bool records;        /* contains RECB or RECN */
};

struct dif_image {
    struct arena arena;   /* holds every table */
    uint32_t strsize;     /* option strsize: the maximum bytes of a string value, without NUL */
    uint32_t scratchsize; /* bytes that a clause can get from alloca() and copyin() */
    const char *strtab;   /* consecutive NUL-terminated strings */
    uint32_t strtab_len;
    uint32_t *str; /* string index -> offset in strtab */
    uint32_t nstr;
    uint64_t *ints; /* the integer table */
    uint32_t nints;
    struct dif_var *vars;
    uint32_t nvars;
    struct dif_agg *aggs; /* in order of first appearance in the program text */
    uint32_t naggs;
    struct dif_type *parts;
    uint32_t nparts;
    uint32_t *refs;
    uint32_t nrefs;
    struct dif_action *actions;
    uint32_t nactions;
    struct dif_sub *subs;
    uint32_t nsubs;
    struct dif_clause *clauses; /* in program order */
    uint32_t nclauses;
    uint32_t *code;
    uint32_t ncode;
    uint64_t builtins; /* bit set: built-in variables used (dif_builtin_bit) */
};

static inline uint64_t dif_builtin_bit(enum dif_builtin b)
{
    return UINT64_C(1) << b;
}
_Static_assert((int)DIF_NBUILTINS <= 64, "a bit for each built-in variable");

void dif_image_init(struct dif_image *img);
void dif_image_free(struct dif_image *img);
/* Returns the string of an index; "" when the index is out of range or DIF_NO_STRING. */
const char *dif_str(const struct dif_image *img, uint32_t index);

/* Reads a binary form into img (which must be initialized). Returns 0, ET_ENOMEM, or ET_EIMAGE with
 * a diagnostic. The bytes may come from anywhere. After an error img is as after dif_image_init. */
int dif_decode(struct dif_image *img, const void *data, size_t len, struct diags *d);
/* Returns 0, or ET_EVERIFY with a diagnostic that names clause and instruction. 0 means that the
 * image is sound, on the tiers that have everything it uses. */
int dif_verify(const struct dif_image *img, struct diags *d);

/* Something that an image uses and a tier lacks. */
struct dif_need {
    char name[48]; /* as D writes it: "curthread", "stack()", "uregs[]" */
    uint8_t tiers; /* set of enum word_tier: the tiers that have it */
    uint32_t file, line,
        col; /* position of the statement, or of the clause whose predicate it is in */
};
/* Finds the first such use in program order; returns false when the tier has everything. The image
 * need not be verified. */
bool dif_lacks(const struct dif_image *img, enum word_tier tier, struct dif_need *need);
/* Finds the first use, in program order, of a name that leads to a value of the traced program:
 * argv[], term_int(). Returns false when there is none. The image need not be verified. */
bool dif_uses_terms(const struct dif_image *img, struct dif_need *need);
/* Returns whether a clause reads probe argument n. The image need not be verified. */
bool dif_reads_argument(const struct dif_image *img, uint32_t clause, unsigned n);
/* Does what dif_verify does, and also returns ET_EUNSUP when the image uses something that this
 * tier lacks. Call this before running a program. */
int dif_verify_for(const struct dif_image *img, enum word_tier tier, struct diags *d);
/* Returns the first tier of a set in words: "the kernel tier", "the local tier". */
const char *dif_tier_text(unsigned tiers);

#endif
