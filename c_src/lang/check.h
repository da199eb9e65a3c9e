/* check.h - what the files of the checker share.
 *
 * check_expr completes a node in place. An expression that was complained about becomes N_ERROR of
 * type TYPE_ERROR, which every operator takes without a further word, so that each mistake is
 * reported once. */
#ifndef ET_LANG_CHECK_H
#define ET_LANG_CHECK_H

#include "lang/prog.h"
#include "probe/probe.h"

/* Marks n as complained about. */
static inline const struct type *check_bad(struct node *n)
{
    node_set_error(n);
    return n->type;
}

/* Whether the node is an aggregation, which has no value that could be read. */
bool check_is_dynamic(const struct node *n);
/* If it is, complains that `what` cannot be one, and makes it the type error. */
bool check_refuse_dynamic(struct lang *l, struct node *n, const char *tag, const char *what);

/* Puts m in the place of n, which keeps its neighbour in a list, and what is wanted of it. */
static inline void check_replace(struct node *n, const struct node *m)
{
    struct node *next = n->next;
    bool by_member = n->by_member;
    *n = *m;
    n->next = next;
    n->by_member = by_member;
}

/* The constant 0, which fits a string as NULL. */
static inline bool check_is_null(const struct node *n)
{
    return n->kind == N_INT && n->num == 0 && !n->is_char;
}

/* @name, or @name[...]. */
static inline bool check_is_aggregation(const struct node *n)
{
    return n->kind == N_AGG || (n->kind == N_INDEX && n->kid[0]->kind == N_AGG);
}

static inline bool check_any_error(const struct node *a, const struct node *b)
{
    return type_is_error(a->type) || type_is_error(b->type);
}

/* Checks an expression whose value is wanted; sets and returns n->type. */
const struct type *check_expr(struct lang *l, struct node *n);
/* The function that a call names; NULL, with a complaint, if there is none (yet). */
const struct lang_fn *check_callee(struct lang *l, struct node *n);
/* The number of arguments; their types, by the letters of the function's prototype. */
bool check_arg_count(struct lang *l, const struct lang_fn *fn, const struct node *args,
                     const struct diag_pos *pos);
bool check_args(struct lang *l, const struct lang_fn *fn, struct node *args);
/* Finds out what a statement is, and completes it. */
void check_stmt(struct lang *l, struct lang_stmt *s);
/* Whether a checked right side can be stored in a left side of that type; complains at pos with the
 * operator's text if not. Integer constant 0 fits a string: it is NULL. */
bool check_assignable(struct lang *l, const struct type *left, const struct node *right,
                      const struct diag_pos *pos, const char *optext);
/* Checks the keys of an associative array or an aggregation against a signature of nkeys types.
 * `what` is how messages call it. */
bool check_keys(struct lang *l, const char *what, const struct type *const *key, unsigned nkeys,
                struct node *args, const struct diag_pos *pos);
/* Takes the signature from the first use. */
bool check_first_keys(struct lang *l, const struct type **key, uint8_t *nkeys, struct node *args,
                      const struct diag_pos *pos);
/* A hint for a value of type `have` where a string was wanted, NULL if there is none. */
const char *check_string_hint(struct lang *l, const struct node *n);
/* Elements of a list. */
unsigned check_count(const struct node *args);
/* "operands have incompatible types", for an operator with two kids. hint may be NULL. */
const struct type *check_incompatible(struct lang *l, struct node *n, const char *hint);

/* Some value of a parameter's type, unchecked and no constant, for checking an expression once. */
struct node *check_sample(struct lang *l, const struct diag_pos *pos, const struct type *t);

/* One function for each kind of node that needs more than a line; all set and return n->type. */
const struct type *check_ident(struct lang *l, struct node *n); /* check_name.c */
const struct type *check_index(struct lang *l, struct node *n);
const struct type *check_assign(struct lang *l, struct node *n);
const struct type *check_incdec(struct lang *l, struct node *n);
const struct type *check_call(struct lang *l, struct node *n); /* check_call.c */

/* -- check_inline.c -- */
/* A copy of an expression, its parameters replaced by the arguments: checked or not, as many as
 * there are parameters. `at` is the place that complaints about it name; NULL: its own. */
struct node *check_instance(struct lang *l, const struct node *expr, const struct diag_pos *at,
                            const struct lang_param *param, unsigned nparams,
                            const struct node *args);
/* Expands an inline in place: n is its name, or the name with arguments in [ ]; as a target of an
 * operator, or cast to the inline's type. */
void check_expand(struct lang *l, struct node *n, const struct lang_inline *in, bool as_lvalue);
/* The value of an inline. */
const struct type *check_inlined(struct lang *l, struct node *n, const struct ident *id);

/* -- check_memory.c -- */
/* Whether two pointers (or arrays) may stand for each other. */
bool check_same_pointers(const struct type *a, const struct type *b);
/* Whether a checked value fits a type (language.md 3.5), without a word. */
bool check_compatible(const struct type *left, const struct node *right);
/* Makes an array of, or a pointer to char the string that it holds; leaves others alone. */
void check_as_string(struct lang *l, struct node *n);
/* An array's or a string's type as a pointer; others as they are. */
const struct type *check_decayed(struct lang *l, const struct type *t);
/* Whether a pointer leads to memory from alloca() or copyin(), or elsewhere, as far as the text
 * says. */
enum lang_alloca check_origin(const struct node *n);
/* Whether memory that a pointer leads to may be the program's own, so that the clause has to see
 * when it runs. */
bool check_may_write(const struct node *n);
/* Whether n names memory: a member, an element, *p. Whether that, or a variable, may be stored to.
 */
bool check_is_place(const struct node *n);
bool check_is_writable(const struct node *n);
/* Whether a pointer type can be stepped; complains for the operator n. */
bool check_steps(struct lang *l, struct node *n, const struct type *t);
/* Their kids are checked. */
const struct type *check_deref(struct lang *l, struct node *n);
const struct type *check_addrof(struct lang *l, struct node *n);
const struct type *check_element_of(struct lang *l, struct node *n);
const struct type *check_pointer_sum(struct lang *l, struct node *n);
const struct type *check_member(struct lang *l, struct node *n);
const struct type *check_sizeof(struct lang *l, struct node *n);
const struct type *check_offsetof(struct lang *l, struct node *n);

/* -- check_place.c -- */
/* Whether a call is of stack(), sym() or their kind, which act, and are keys of aggregations. */
bool check_is_place_call(const struct lang *l, const struct node *n);
/* Completes such a call: its value is a stack or a symbol. */
const struct type *check_place_call(struct lang *l, struct node *n, const struct lang_fn *fn);
/* Gives the value of a key that takes part in a signature the type that it has there. */
void check_place_as(struct node *n, const struct type *key);
/* -- check_xlate.c -- */
const struct type *check_xlate(struct lang *l, struct node *n);
/* n is a member of a translation, its kid, and has been found in the output type: makes it the
 * translator's expression. */
const struct type *check_xlated_member(struct lang *l, struct node *n);
/* n is a translation, checked, whose value is wanted as a whole: makes it memory of the clause that
 * has every member. */
const struct type *check_xlated_whole(struct lang *l, struct node *n);
/* Whether any value of type `from` fits a type as it is. */
bool check_fits(const struct type *to, const struct type *from);
/* Whether a value of type `from` can be had as one of type `to`, as it is or through a translator.
 */
bool check_translates(const struct lang *l, const struct type *from, const struct type *to);

/* -- check_args.c -- */
/* n is args[...]. */
const struct type *check_args_element(struct lang *l, struct node *n);
/* What the tables say of an argument, n, which is argN; its type goes to *t. NULL: it is not known
 * which argument that is, or probes that the clause may be for differ. Nor are there answers in D
 * libraries. */
const struct probe_arg *check_argument(struct lang *l, const struct node *n, const struct type **t);

/* Warns of an argN that the clause's probes, which are known, do not pass. */
void check_arg_is_passed(struct lang *l, const struct node *n);

/* -- check_known.c: warnings of what is right as D, and says nothing -- */
/* Of a key of an aggregation that is argN where that is the address of a text. */
void check_key_of_text(struct lang *l, const struct node *key);
/* Of a comparison, checked, that always ends alike because of what its argument can be. */
void check_comparison(struct lang *l, const struct node *n);
/* Of a value to be aggregated that is not known here. Returns what must hold for the value to be
 * one: that none of its arguments is what stands for "not known". NULL: it always is one. */
struct node *check_aggregated(struct lang *l, const struct node *value);

/* -- check_elixir.c -- */
/* Warns of a text that is compared with the name of a module, and lacks Elixir's prefix. */
void check_elixir_name(struct lang *l, const struct node *text, const struct node *other);

/* -- print_type.c -- */
/* The description of a type for print(); `at` is what is printed. */
char *check_describe(struct lang *l, const struct type *t, const struct node *at);

/* -- format.c -- */
/* Checks a printf format against arguments (checked nodes by next). */
void format_check_printf(struct lang *l, const struct node *fmt, struct node *args, const char *fn);
/* Checks a printa format against the keys of an aggregation. */
void format_check_printa(struct lang *l, const struct node *fmt, const struct lang_agg *agg);

#endif
