/* gen.h - what the files of the generator share: the image under construction and its registers.
 *
 * Tables grow in buffers and are copied into the image's arena at the end. If a program cannot be
 * generated (too few registers, a full table), gen_fail jumps out, so code that emits instructions
 * needs no checks. Buffers record by themselves that memory ran out. */
#ifndef ET_LANG_GEN_H
#define ET_LANG_GEN_H

#include <setjmp.h>

#include "base/err.h"
#include "lang/compile.h"
#include "lang/lang.h"
#include "util/table.h"

enum { REUSE_MAX = 32 };

/* A value that occurs several times in the clause; see gen_reuse.c. */
struct reuse {
    const struct node *node; /* its first occurrence */
    uint32_t left;           /* occurrences still to come */
    unsigned reg;            /* holds the value, if have is set */
    unsigned pins;           /* current readers of reg */
    bool have;
    bool closed; /* planning: a variable that it reads has been stored to since */
};

struct gen {
    struct diags *diags;
    struct arena arena;               /* keys of the hash tables */
    struct hash str_index, int_index; /* text or value -> its number + 1 */
    struct buf strtab, str, ints, vars, aggs, parts, refs, actions, subs, clauses, code;
    uint64_t builtins;
    uint32_t strsize, scratchsize;
    unsigned nregs;       /* registers that code may use */
    uint32_t clause_code; /* where the clause's code begins, in instructions */
    uint32_t clause_part; /* where the clause's parts begin */
    uint32_t clause_subs; /* recording sub-clauses of the clause so far */
    uint32_t regs;        /* bit set: registers in use */
    struct buf *passing;  /* struct passed: what is left to nodes; NULL: nothing is */
    bool (*is_of_node)(void *arg, const struct probe_spec *spec); /* with `passing` */
    void *is_of_node_arg;
    bool of_node;   /* the clause is on probes of a node */
    unsigned maybe; /* above 0: the code being generated may be skipped at run time */
    struct reuse reuse[REUSE_MAX];
    unsigned nreuse;
    const struct diag_pos *pos; /* position of what is being generated, for gen_fail */
    jmp_buf trap;               /* target of gen_fail; the value is the error */
};

/* -- gen_table.c -- */
void gen_init(struct gen *g, struct diags *d, const struct compile_options *opt);
void gen_free(struct gen *g);
/* Reports an error at g->pos and jumps to the trap. hint may be NULL. */
_Noreturn void gen_fail(struct gen *g, const char *tag, const char *text, const char *hint);
_Noreturn void gen_nomem(struct gen *g);
uint32_t gen_str(struct gen *g, const char *s);
uint32_t gen_int(struct gen *g, uint64_t v);
struct dif_type gen_type(const struct gen *g, const struct type *t);
void gen_vars(struct gen *g, const struct lang *l);
void gen_aggs(struct gen *g, const struct lang *l);
/* Moves everything into img. Returns 0 or ET_ENOMEM. */
int gen_finish(struct gen *g, struct dif_image *img);

/* -- gen_expr.c -- */
/* Branches always go forward, so a label is a chain of branches that wait for their target: each
 * holds the number of the previous one in its target field. */
struct label {
    uint32_t last; /* newest branch + 1; 0: none */
};
/* Returns the number of the next instruction in the clause. */
uint32_t gen_pc(const struct gen *g);
void gen_emit(struct gen *g, uint32_t insn);
void gen_place(struct gen *g, struct label *l);
void gen_branch(struct gen *g, enum dif_op op, struct label *l);
unsigned gen_reg(struct gen *g);
void gen_unreg(struct gen *g, unsigned reg);
/* A value in a register that may only be read, until gen_done. */
struct gen_value {
    unsigned reg;
    struct reuse *of; /* the entry that owns the register; NULL: the value itself */
};
struct gen_value gen_read(struct gen *g, const struct node *n);
void gen_done(struct gen *g, struct gen_value v);
/* Returns the value in a register that the caller then owns. */
unsigned gen_value(struct gen *g, const struct node *n);
/* The same, but always generates the value. Only for gen_read. */
unsigned gen_make(struct gen *g, const struct node *n);
/* Generates the node for its effects only. */
void gen_effect(struct gen *g, const struct node *n);
/* Branches to l if n is true (or, with sense false, if it is not). */
void gen_jump(struct gen *g, const struct node *n, bool sense, struct label *l);
/* Pushes the values of a list on the empty tuple. The first nkinds are keys of these types; a key
 * is pushed as a string if its type is one, whatever its value is. The others are pushed by their
 * own types. */
void gen_tuple(struct gen *g, const struct node *list, const struct type *const *kinds,
               unsigned nkinds);

/* Returns a subroutine's result in a register that the caller then owns. */
unsigned gen_call(struct gen *g, unsigned subr, const struct node *args);
/* Branches to l if the predicate is false. */
void gen_predicate(struct gen *g, const struct node *n, struct label *l);

/* Values of a list, held in registers. They can be pushed any number of times; the last push
 * releases them. */
struct held {
    unsigned n;
    struct gen_value value[DIF_TUPLE_MAX];
    bool string[DIF_TUPLE_MAX];
};
void gen_hold(struct gen *g, struct held *h, const struct node *list,
              const struct type *const *kinds, unsigned nkinds);
void gen_push_held(struct gen *g, const struct held *h, bool last);
unsigned gen_int_value(struct gen *g, uint64_t v);
enum dif_op gen_load_op(const struct lang_var *v);
enum dif_op gen_store_op(const struct lang_var *v);
/* The right side of an assignment or update: an expression, or the 1 of ++ and --. */
struct gen_operand {
    const struct node *expr; /* NULL: 1 */
    enum op op;              /* OP_NONE: plain assignment */
    uint64_t scale;          /* factor for the operand: the bytes of a pointer's step */
};
unsigned gen_operand_value(struct gen *g, const struct gen_operand *o);
/* Emits r = r op e for a target of type t. */
void gen_arith(struct gen *g, const struct type *t, const struct gen_operand *o, unsigned r,
               unsigned e);

/* -- gen_memory.c -- */
bool gen_is_place(const struct node *n);
/* Return the value of a place, and its address. */
unsigned gen_load(struct gen *g, const struct node *n);
unsigned gen_address(struct gen *g, const struct node *n);
/* Emits x op= operand. used: the expression's value is needed; old_value: it is the value before
 * the change. */
unsigned gen_change(struct gen *g, const struct node *x, const struct gen_operand *o, bool used,
                    bool old_value);
/* Emits a load that faults if the address in reg is inaccessible, before its bytes are stored to a
 * dynamic variable x: storing 0 would free the variable. */
void gen_check_address(struct gen *g, const struct node *x, const struct node *e, unsigned reg);
uint64_t gen_step_size(const struct type *t);
void gen_scale(struct gen *g, unsigned reg, uint64_t by);
unsigned gen_pointer_sum(struct gen *g, const struct node *n);

/* -- gen_reuse.c -- */
/* Called before a clause is generated. */
void reuse_plan(struct gen *g, const struct lang_clause *c);
/* Called after a store to v. */
void reuse_store(struct gen *g, const struct lang_var *v);
/* Called after a store to memory, which any value may depend on. */
void reuse_store_memory(struct gen *g);
/* Frees a register that only keeps a value for later; returns false if there is none. */
bool reuse_evict(struct gen *g);

/* -- gen_passing.c -- */
/* An expression that a node evaluates for a clause of the image: element `at` of _passed. */
struct passed {
    const struct node *node;
    uint32_t clause, at;
};
/* Returns whether n is to be evaluated by a node. */
bool gen_is_passed(const struct gen *g, const struct node *n);
/* Generates the reading of its value. */
unsigned gen_passed(struct gen *g, const struct node *n);
/* Generates the node's clause for a set; `clause` has the clauses by their numbers in the image. */
void gen_passing_clause(struct gen *g, const struct compile_set *set,
                        const struct lang_clause *const *clause, const struct buf *passing);

/* -- gen_clause.c -- */
void gen_clause(struct gen *g, const struct lang_clause *c, const struct lang_desc *d);

#endif
