/* lex.h - D text to tokens (language.md 1).
 *
 * The same characters mean different things in different contexts, so the parser sets `ctx` before
 * it requests the next token: LEX_OUTER between clauses, where probe descriptions stand; LEX_EXPR
 * inside predicates, bodies and declarations; LEX_MEMBER for one token where a name of any form may
 * stand: after "." or "->", and in records. One token
 * is current (lx->tok), and no token is ever pushed back. Control lines (# ...) are executed where
 * they occur.
 *
 * Positions: line and column count from 1, in bytes; "#line" changes what messages show. */
#ifndef ET_LANG_LEX_H
#define ET_LANG_LEX_H

#include "lang/prog.h"

enum lex_ctx { LEX_OUTER, LEX_EXPR, LEX_MEMBER };

enum tok {
    TOK_EOF,
    TOK_INT,     /* num, type */
    TOK_STRING,  /* str, len */
    TOK_IDENT,   /* str */
    TOK_TYPE,    /* a typedef name: type, str */
    TOK_AGG,     /* str, without '@' */
    TOK_DESC,    /* one probe description, raw: str, len */
    TOK_PREDEND, /* the '/' that closes a predicate */
    TOK_HASH,    /* '#' before the name of a record */
    TOK_RECORD,  /* the word that begins the definition of a record: a keyword only there */
    /* keywords, in the order of lex_keywords */
    TOK_KW_AUTO,
    TOK_KW_BREAK,
    TOK_KW_CASE,
    TOK_KW_CHAR,
    TOK_KW_CONST,
    TOK_KW_CONTINUE,
    TOK_KW_COUNTER,
    TOK_KW_DEFAULT,
    TOK_KW_DO,
    TOK_KW_DOUBLE,
    TOK_KW_ELSE,
    TOK_KW_ENUM,
    TOK_KW_EXTERN,
    TOK_KW_FLOAT,
    TOK_KW_FOR,
    TOK_KW_GOTO,
    TOK_KW_IF,
    TOK_KW_IMPORT,
    TOK_KW_INLINE,
    TOK_KW_INT,
    TOK_KW_LONG,
    TOK_KW_OFFSETOF,
    TOK_KW_PROBE,
    TOK_KW_PROVIDER,
    TOK_KW_REGISTER,
    TOK_KW_RESTRICT,
    TOK_KW_RETURN,
    TOK_KW_SELF,
    TOK_KW_SHORT,
    TOK_KW_SIGNED,
    TOK_KW_SIZEOF,
    TOK_KW_STATIC,
    TOK_KW_STRING,
    TOK_KW_STRINGOF,
    TOK_KW_STRUCT,
    TOK_KW_SWITCH,
    TOK_KW_THIS,
    TOK_KW_TRANSLATOR,
    TOK_KW_TYPEDEF,
    TOK_KW_UNION,
    TOK_KW_UNSIGNED,
    TOK_KW_VOID,
    TOK_KW_VOLATILE,
    TOK_KW_WHILE,
    TOK_KW_XLATE,
    /* punctuators, in the order of lex_puncts */
    TOK_ELLIPSIS,
    TOK_SHLEQ,
    TOK_SHREQ,
    TOK_ARROW,
    TOK_INC,
    TOK_DEC,
    TOK_SHL,
    TOK_SHR,
    TOK_LE,
    TOK_GE,
    TOK_EQ,
    TOK_NE,
    TOK_LAND,
    TOK_LOR,
    TOK_LXOR,
    TOK_ADDEQ,
    TOK_SUBEQ,
    TOK_MULEQ,
    TOK_DIVEQ,
    TOK_MODEQ,
    TOK_ANDEQ,
    TOK_OREQ,
    TOK_XOREQ,
    TOK_LPAR,
    TOK_RPAR,
    TOK_LBRACK,
    TOK_RBRACK,
    TOK_LBRACE,
    TOK_RBRACE,
    TOK_DOT,
    TOK_COMMA,
    TOK_SEMI,
    TOK_QUEST,
    TOK_COLON,
    TOK_ASSIGN,
    TOK_PLUS,
    TOK_MINUS,
    TOK_STAR,
    TOK_SLASH,
    TOK_PERCENT,
    TOK_AMP,
    TOK_BAR,
    TOK_CARET,
    TOK_TILDE,
    TOK_BANG,
    TOK_LT,
    TOK_GT
};

/* The hint for a name of Erlang that is not written as one word. */
#define LEX_QUOTES                                                                                 \
    "a name with other characters than letters, digits and _ - . @ is written in Erlang's "        \
    "quotes: m:'->list'/1"

struct token {
    enum tok kind;
    struct diag_pos pos;
    uint64_t num;
    const struct type *type;
    const char *str;
    size_t len;
    bool is_char;
    bool quoted;     /* TOK_IDENT: an atom in single quotes, of any characters */
    const char *raw; /* the token in the source, pos.len bytes */
};

struct lex {
    struct lang *l;
    const struct compile_source *src;
    const char *p, *end; /* the rest of the text */
    const char *line_start;
    const char *file; /* name for messages */
    int line;
    enum lex_ctx ctx;
    struct token tok;
    enum tok before[2]; /* the kinds of the tokens before it, the last one first */
    int shift;          /* what #line added to `line`; 0 where cpp wrote the line */
    const char *unit;   /* set by the parser: start of the current clause or declaration */
    int depth;          /* open braces */
    int paren;          /* open parentheses and brackets */
    bool open_arrays;   /* set by the parser: "[]" is allowed here, in a mere declaration */
    int nest;           /* set by the parser: nesting depth of the current expression */
    bool fresh;         /* only blanks so far on this line: a '#' starts a control line */
    bool declares;      /* set by the parser: inside a declaration, which ends at a ; after any } */
    bool last_arg_used; /* the last program argument was referenced */
};

void lex_init(struct lex *lx, struct lang *l, const struct compile_source *src);
/* Reads the next token into lx->tok. */
void lex_next(struct lex *lx);
/* After an error, skips to the end of the current clause or declaration, then reads the next token
 * in LEX_OUTER. */
void lex_recover(struct lex *lx);
/* After an error in a statement, skips to its end, or to the } after it, if that can be told; then
 * reads the next token and returns true. depth: open braces around the statement; branches: it is
 * an if, which has braces of its own; loops: it is a for, whose parentheses hold semicolons. */
bool lex_recover_statement(struct lex *lx, int depth, bool branches, bool loops);
/* After an error in a statement that lex_recover_statement has not found the end of: if the
 * token of *first, to which the text goes back, rather begins the next clause, makes it the current
 * one, in LEX_OUTER, and returns true. */
bool lex_recover_unclosed(struct lex *lx, const struct lex *first);
/* After an error in a predicate, skips to the { of its clause, which is then the current token.
 * Returns false if there is none before the next ; or }. */
bool lex_recover_predicate(struct lex *lx);
/* Returns the text of a macro of a probe description ("target", "1"), NULL if undefined. */
const char *lex_macro_text(struct lex *lx, const char *name, size_t len);
/* Returns a hint for an undefined macro. number: it is $1, $2 ... */
const char *lex_macro_hint(bool number);
/* Fails with "syntax error near ...". */
_Noreturn void lex_syntax(struct lex *lx, const char *hint);
/* Returns the keyword's text. */
const char *lex_keyword(enum tok t);

/* -- meant.c -- */
/* Returns a hint with D's form of the text around the token, which is unexpected there; NULL: no
 * suggestion. */
const char *lex_meant(struct lex *lx);
/* Returns a hint if the current token, a / or {, belongs to a description as part of a regular
 * expression or of alternatives; NULL if it does not. */
const char *lex_meant_part(const struct lex *lx);

/* -- control.c -- */
/* Executes a control line; lx->p is after the '#' on entry and after the newline on return. */
void lex_control(struct lex *lx);

/* -- parse*.c -- */
/* Parses one unit of the program: a clause, declaration, inline ... The current token is its first,
 * in LEX_OUTER. */
void parse_unit(struct lex *lx);
void parse_decl(struct lex *lx);
void parse_clause(struct lex *lx);
/* A part of a probe description. */
struct desc_part {
    const char *text; /* a pattern */
    bool quoted;      /* part of it is quoted, and so literal */
    bool closed;      /* its end is quoted as well: a slash in it does not start an arity */
};
/* Turns functions as Erlang and Elixir write them into parts. named: the last part is a probe's
 * name; colon: the description begins with a colon. */
void parse_names(struct lang *l, struct desc_part p[4], bool named, bool colon);
/* Parse an expression; the current token is its first, in LEX_EXPR. */
struct node *parse_expr(struct lex *lx);   /* with commas */
struct node *parse_assign(struct lex *lx); /* without */
/* Parses a type in parentheses or in a parameter list: specifiers and, after them, an abstract
 * declarator. */
const struct type *parse_type(struct lex *lx);
bool parse_is_type(const struct token *t);
/* Consumes a punctuator or fails. */
void parse_expect(struct lex *lx, enum tok kind);

#endif
