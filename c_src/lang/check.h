/* check.h - what the files of the checker share.
 *
 * check_expr completes a node in place. An expression with a reported error becomes N_ERROR of type
 * TYPE_ERROR, which every operator accepts silently, so each mistake is reported once. */
#ifndef ET_LANG_CHECK_H
#define ET_LANG_CHECK_H

#include "lang/prog.h"
#include "probe/probe.h"

/* Marks n as an expression whose error has been reported. */
static inline const struct type *check_bad(struct node *n)
{
    node_set_error(n);
    return n->type;
}

/* Returns whether the node is an aggregation, which has no readable value. */
bool check_is_dynamic(const struct node *n);
/* If n is one, reports that `what` cannot be an aggregation and turns n into the type error. */
bool check_refuse_dynamic(struct lang *l, struct node *n, const char *tag, const char *what);

/* Overwrites n with m, but keeps n's list link and its by_member. */
static inline void check_replace(struct node *n, const struct node *m)
{
    struct node *next = n->next;
    bool by_member = n->by_member;
    *n = *m;
    n->next = next;
    n->by_member = by_member;
}

/* Returns whether n is the constant 0, which fits a string as NULL. */
static inline bool check_is_null(const struct node *n)
{
    return n->kind == N_INT && n->num == 0 && !n->is_char;
}

/* Returns whether n is @name or @name[...]. */
static inline bool check_is_aggregation(const struct node *n)
{
    return n->kind == N_AGG || (n->kind == N_INDEX && n->kid[0]->kind == N_AGG);
}

static inline bool check_any_error(const struct node *a, const struct node *b)
{
    return type_is_error(a->type) || type_is_error(b->type);
}

/* Checks an expression that is used for its value; sets and returns n->type. */
const struct type *check_expr(struct lang *l, struct node *n);
/* Returns the function that a call names; NULL after reporting an error if there is none (yet). */
const struct lang_fn *check_callee(struct lang *l, struct node *n);
/* Checks the number of arguments, or their types against the letters of the function's
 * prototype. */
bool check_arg_count(struct lang *l, const struct lang_fn *fn, const struct node *args,
                     const struct diag_pos *pos);
bool check_args(struct lang *l, const struct lang_fn *fn, struct node *args);
/* Determines what a statement is and completes it. */
void check_stmt(struct lang *l, struct lang_stmt *s);
/* Returns whether a checked right side can be stored in a left side of that type; if not, reports
 * an error at pos that quotes the operator's text. Integer constant 0 fits a string: it is NULL. */
bool check_assignable(struct lang *l, const struct type *left, const struct node *right,
                      const struct diag_pos *pos, const char *optext);
/* Checks the keys of an associative array or an aggregation against a signature of nkeys types.
 * `what` is its name in messages. */
bool check_keys(struct lang *l, const char *what, const struct type *const *key, unsigned nkeys,
                struct node *args, const struct diag_pos *pos);
/* Takes the signature from the first use. */
bool check_first_keys(struct lang *l, const struct type **key, uint8_t *nkeys, struct node *args,
                      const struct diag_pos *pos);
/* Returns a hint for the value n where a string is expected, NULL if there is none. */
const char *check_string_hint(struct lang *l, const struct node *n);
/* Returns the number of elements of a list. */
unsigned check_count(const struct node *args);
/* Reports "operands have incompatible types" for an operator with two kids. hint may be NULL. */
const struct type *check_incompatible(struct lang *l, struct node *n, const char *hint);

/* Returns a sample value of a parameter's type, unchecked and not constant, for checking an
 * expression once. */
struct node *check_sample(struct lang *l, const struct diag_pos *pos, const struct type *t);

/* One function for each kind of node that needs more than one line; all set and return n->type. */
const struct type *check_ident(struct lang *l, struct node *n); /* check_name.c */
const struct type *check_index(struct lang *l, struct node *n);
const struct type *check_assign(struct lang *l, struct node *n);
const struct type *check_incdec(struct lang *l, struct node *n);
const struct type *check_call(struct lang *l, struct node *n); /* check_call.c */

/* -- check_inline.c -- */
/* Copies an expression and replaces its parameters with the arguments, which may be checked or
 * unchecked and match the parameters in number. Errors in the copy are reported at `at`; NULL: at
 * the copied nodes' own positions. */
struct node *check_instance(struct lang *l, const struct node *expr, const struct diag_pos *at,
                            const struct lang_param *param, unsigned nparams,
                            const struct node *args);
/* Expands an inline in place: n is its name, or the name with arguments in [ ]. The result is the
 * target of an operator, or is cast to the inline's type. */
void check_expand(struct lang *l, struct node *n, const struct lang_inline *in, bool as_lvalue);
/* Checks n as the value of an inline. */
const struct type *check_inlined(struct lang *l, struct node *n, const struct ident *id);

/* -- check_memory.c -- */
/* Returns whether two pointers (or arrays) are interchangeable. */
bool check_same_pointers(const struct type *a, const struct type *b);
/* Returns whether a checked value fits a type (language.md 3.5); reports nothing. */
bool check_compatible(const struct type *left, const struct node *right);
/* Converts an array of char or a pointer to char to the string it holds; leaves others alone. */
void check_as_string(struct lang *l, struct node *n);
/* Returns the pointer type that an array or string decays to; other types unchanged. */
const struct type *check_decayed(struct lang *l, const struct type *t);
/* Returns whether a pointer leads to memory from alloca() or copyin(), or elsewhere, as far as the
 * text shows. */
enum lang_alloca check_origin(const struct node *n);
/* Returns whether a pointer may lead to the program's own memory, so that the clause must find out
 * when it runs. */
bool check_may_write(const struct node *n);
/* check_is_place returns whether n names memory: a member, an element, *p. check_is_writable
 * returns whether that memory, or a variable, may be stored to. */
bool check_is_place(const struct node *n);
bool check_is_writable(const struct node *n);
/* Returns whether a pointer type allows arithmetic; reports an error for the operator n if not. */
bool check_steps(struct lang *l, struct node *n, const struct type *t);
/* These expect nodes whose kids are checked. */
const struct type *check_deref(struct lang *l, struct node *n);
const struct type *check_addrof(struct lang *l, struct node *n);
const struct type *check_element_of(struct lang *l, struct node *n);
const struct type *check_pointer_sum(struct lang *l, struct node *n);
const struct type *check_member(struct lang *l, struct node *n);
const struct type *check_sizeof(struct lang *l, struct node *n);
const struct type *check_offsetof(struct lang *l, struct node *n);

/* -- check_place.c -- */
/* Returns whether n is a call of stack(), sym() and the like, which are actions and keys of
 * aggregations. */
bool check_is_place_call(const struct lang *l, const struct node *n);
/* Completes such a call: its value is a stack or a symbol. */
const struct type *check_place_call(struct lang *l, struct node *n, const struct lang_fn *fn);
/* Gives a key's value the type that its place in the signature has. */
void check_place_as(struct node *n, const struct type *key);
/* -- check_term.c -- */
/* Checks the argument of atom(); returns false after reporting an error. */
bool check_atom(struct lang *l, const struct node *name);
/* Turns a term into its text, in Erlang's syntax or the other one; leaves others alone. */
void check_as_text(struct lang *l, struct node *n, bool other);
/* Returns whether a checked expression is atom("name"). */
bool check_is_atom(const struct node *n);
/* Turns n, which compares a term with a term, number or text, into a call that does. Returns false
 * if it is none of these, or if handles may be compared as they are. */
bool check_terms_compared(struct lang *l, struct node *n);
/* Turns n into a call of a subroutine, whose arguments are checked. */
void check_make_call(struct lang *l, struct node *n, unsigned subr, const char *name,
                     struct node *args, enum type_id type);
/* Returns the number of characters of a text in UTF-8; -1: it is none. */
int check_characters(const char *s);
/* Checks a member of a term, its kid, which is checked: a key of a map, or a field of a record. */
const struct type *check_term_member(struct lang *l, struct node *n);
/* -- check_xlate.c -- */
const struct type *check_xlate(struct lang *l, struct node *n);
/* Replaces n by the translator's expression. n is a member access on a translation (its kid), and
 * the member has been found in the output type. */
const struct type *check_xlated_member(struct lang *l, struct node *n);
/* Replaces n, a checked translation used as a whole value, by clause memory that holds every
 * member. */
const struct type *check_xlated_whole(struct lang *l, struct node *n);
/* Returns whether any value of type `from` fits a type unchanged. */
bool check_fits(const struct type *to, const struct type *from);
/* Returns whether a value of type `from` converts to type `to`, unchanged or through a
 * translator. */
bool check_translates(const struct lang *l, const struct type *from, const struct type *to);

/* -- check_args.c -- */
/* Checks n, which is args[...]. */
const struct type *check_args_element(struct lang *l, struct node *n);
/* Makes code of n, a call of usdt(...) whose arguments are checked. Without any, it passes those of
 * the probe. */
const struct type *check_usdt(struct lang *l, struct node *n);
/* Returns what the tables say of an argument; n is argN, and *t receives its type. Returns NULL if
 * the argument cannot be determined, if the clause's possible probes differ, and always in D
 * libraries. */
const struct probe_arg *check_argument(struct lang *l, const struct node *n, const struct type **t);

/* Warns about an argN that none of the clause's probes passes, if those probes are known. */
void check_arg_is_passed(struct lang *l, const struct node *n);

/* -- check_known.c: warnings about valid D that is meaningless -- */
/* Warns about an argN as an aggregation key if argN is the address of a text. */
void check_key_of_text(struct lang *l, const struct node *key);
/* Warns about an assignment to a variable that an earlier one, of a smaller type, has created. */
void check_kept_whole(struct lang *l, const struct node *assignment);
/* Notes in the variable that it is assigned a size. */
void check_sized(struct lang *l, const struct node *assignment);
/* Warns about an assignment that keeps a term beyond its event. */
void check_kept_term(struct lang *l, const struct node *assignment);
/* Warns about a term that is compared with, or looked for by, a character constant, which is a
 * number. */
void check_term_as_number(struct lang *l, const struct node *at, const struct node *number);
/* Warns about the number of an element that no term has. */
void check_first_element(struct lang *l, const struct node *n);
/* Warns about a checked comparison whose result the argument's possible values fix in advance. */
void check_comparison(struct lang *l, const struct node *n);
/* Warns about an aggregated value that is not known here, of those that an aggregating function
 * takes. Returns the condition under which the value is meaningful: no argument in it is the number
 * that stands for "not known". NULL: always meaningful. *size: a size is part of it, which may be
 * unknown or a lower bound. */
struct node *check_aggregated(struct lang *l, const struct node *values, bool *size);

/* -- check_means.c -- */
/* Returns what a checked expression names, an enum lang_means. */
uint8_t check_means(struct lang *l, const struct node *n);
/* Returns what a value names that is one of two. */
uint8_t means_both(uint8_t a, uint8_t b);

/* -- check_elixir.c -- */
/* Warns about a string that is compared with a module's name but lacks Elixir's prefix. */
void check_elixir_name(struct lang *l, const struct node *text, const struct node *other);

/* A symbol of the kernel or of a process, `name. check_symbol_address checks one whose address is
 * taken: its type need not be known. */
bool check_is_symbol(const struct node *n);
const struct type *check_symbol_address(struct lang *l, struct node *n);

/* -- print_type.c -- */
/* Returns the description of a type for print(); `at` is the printed expression. */
char *check_describe(struct lang *l, const struct type *t, const struct node *at);

/* -- format.c -- */
/* Checks a printf format against arguments (checked nodes, linked by next). A term is turned into
 * its text, and the conversion %T of it into %s. */
void format_check_printf(struct lang *l, struct node *fmt, struct node *args, const char *fn);
/* Checks a printa format against the keys of an aggregation. */
void format_check_printa(struct lang *l, struct node *fmt, const struct lang_agg *agg);

#endif
