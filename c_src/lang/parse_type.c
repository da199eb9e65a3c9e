/* parse_type.c - declarators, and the bodies of structs, unions and enums (language.md 2.3).
 *
 * A declarator is read from the name outward into a list of derivations, and the type is then built
 * from the far end: "int *a[4]" is the list [4], pointer, and gives an array of 4 pointers. */
#include "lang/check.h"
#include "lang/declare.h"
#include "util/table.h"

#include <string.h>

/* -- constants --------------------------------------------------------------------------------- */

static bool constant(struct lex *lx, uint64_t *v, bool *is_signed)
{
    struct node *n = parse_assign(lx);
    lx->l->depth = 0;
    if (type_is_error(check_expr(lx->l, n)))
        lang_fail_quietly(lx->l);
    *v = n->num;
    *is_signed = n->type->is_signed;
    return n->kind == N_INT;
}

/* -- derived types ----------------------------------------------------------------------------- */

/* Checks a type whose use requires a known size. */
static void check_object(struct lex *lx, const struct diag_pos *pos, const struct type *t,
                         const char *what)
{
    if (t->kind == TYPE_VOID)
        lang_fail(lx->l, pos, "D_DECL_VOIDOBJ", NULL, "%s of type void cannot be declared", what);
    if (lang_incomplete(lx->l, t))
        lang_fail(lx->l, pos, "D_DECL_INCOMPLETE", NULL,
                  "%s of the incomplete type %s cannot be declared", what, t->name);
    if (t->kind == TYPE_FUNC)
        lang_fail(lx->l, pos, "D_UNKNOWN", "a pointer to it can: T (*name)()",
                  "%s of function type cannot be declared", what);
}

static const struct type *array_of(struct lex *lx, const struct diag_pos *pos,
                                   const struct type *of, uint32_t count)
{
    uint64_t size = type_is_string(of) ? lx->l->opt->strsize : type_size(of);
    check_object(lx, pos, of, "an array");
    if (size * count > WORD_BYTES_MAX)
        lang_fail(lx->l, pos, "D_UNKNOWN", NULL,
                  "the array is too large: %llu bytes, the maximum is %u",
                  (unsigned long long)size * count, (unsigned)WORD_BYTES_MAX);
    return type_array(lx->l, of, count);
}

static const struct type *function_of(struct lex *lx, const struct type *result)
{
    struct type *t = lang_alloc(lx->l, sizeof *t);
    t->kind = TYPE_FUNC;
    t->name = lang_printf(lx->l, "%s ()", result->name);
    return t;
}

/* -- declarators ------------------------------------------------------------------------------- */

const struct declared_param *parse_params(struct lex *lx)
{
    struct declared_param *list = NULL, **tail = &list;
    bool only_void = false;
    lex_next(lx);
    while (lx->tok.kind != TOK_RPAR) {
        struct diag_pos pos = lx->tok.pos;
        if (lx->tok.kind == TOK_ELLIPSIS) {
            lex_next(lx);
            if (!list || lx->tok.kind != TOK_RPAR)
                lang_fail(lx->l, &pos, "D_DECL_PROTO_VARARGS", NULL,
                          "... must be the last of several parameters");
            (*tail) = lang_alloc(lx->l, sizeof **tail);
            (*tail)->pos = pos;
            break;
        }
        struct declared d;
        const struct type *t = parse_spec(lx);
        bool outside = lx->open_arrays;
        lx->open_arrays = true;
        declarator(lx, &d, t, DECLARE_PARAM);
        lx->open_arrays = outside;
        if (d.type->kind == TYPE_VOID && d.name)
            lang_fail(lx->l, &pos, "D_DECL_PROTO_NAME", NULL,
                      "a parameter of type void cannot have the name '%s'", d.name);
        if (only_void || (d.type->kind == TYPE_VOID && list))
            lang_fail(lx->l, &pos, "D_DECL_PROTO_VOID", NULL, "void must be the sole parameter");
        only_void = d.type->kind == TYPE_VOID;
        if (d.nkeys > 0)
            lang_fail(lx->l, &pos, "D_DECL_PROTO_TYPE", NULL,
                      "a parameter cannot be an associative array");
        for (const struct declared_param *p = d.name ? list : NULL; p; p = p->next) {
            if (p->name && strcmp(p->name, d.name) == 0)
                lang_fail(lx->l, &d.pos, "D_DECL_PROTO_FORM", NULL,
                          "parameter name '%s' is used twice", d.name);
        }
        *tail = lang_alloc(lx->l, sizeof **tail);
        **tail = (struct declared_param){d.name ? d.pos : pos, d.name, d.type, NULL};
        tail = &(*tail)->next;
        if (lx->tok.kind != TOK_COMMA)
            break;
        lex_next(lx);
        if (lx->tok.kind == TOK_RPAR)
            lex_syntax(lx, NULL);
    }
    parse_expect(lx, TOK_RPAR);
    return only_void ? NULL : list;
}

/* Parses "type, type ... ]", after the "[": the keys of an associative array. */
static void key_types(struct lex *lx, struct declared *d)
{
    for (;;) {
        if (!parse_is_type(&lx->tok))
            lex_syntax(lx, NULL);
        struct diag_pos pos = lx->tok.pos;
        struct declared k;
        declarator(lx, &k, parse_spec(lx), DECLARE_PARAM);
        if (k.type->kind != TYPE_INT && k.type->kind != TYPE_STRING && k.type->kind != TYPE_PTR &&
            !type_is_sou(k.type))
            lang_fail(lx->l, &pos, "D_KEY_TYPE", NULL, "a key cannot be of type %s", k.type->name);
        if (lang_incomplete(lx->l, k.type))
            lang_fail(lx->l, &pos, "D_DECL_INCOMPLETE", NULL,
                      "a key cannot be of the incomplete type %s", k.type->name);
        if (type_size(k.type) > WORD_BYTES_MAX)
            lang_fail(lx->l, &pos, "D_KEY_TYPE", NULL,
                      "a key of type %s is too large: %u bytes, the maximum is %u", k.type->name,
                      type_size(k.type), (unsigned)WORD_BYTES_MAX);
        if (d->nkeys == lx->l->opt->keys)
            lang_fail(lx->l, &pos, "D_UNKNOWN", NULL,
                      "Insufficient tuple registers to generate code");
        d->key[d->nkeys++] = k.type;
        if (lx->tok.kind != TOK_COMMA)
            break;
        lex_next(lx);
    }
    parse_expect(lx, TOK_RBRACK);
}

enum { DERIVED_MAX = 64, DERIVE_POINTER = -1, DERIVE_FUNCTION = -2 };

/* From the name outward: dimensions, or one of the above. */
struct derivations {
    unsigned n;
    int64_t how[DERIVED_MAX];
    struct diag_pos pos[DERIVED_MAX];
};

static void derive(struct lex *lx, struct derivations *v, int64_t how, const struct diag_pos *pos)
{
    if (v->n == DERIVED_MAX)
        lang_fail(lx->l, pos, "D_SYNTAX", NULL, "declarator is too deep");
    v->pos[v->n] = *pos;
    v->how[v->n++] = how;
}

static void dimension(struct lex *lx, struct derivations *v, struct declared *d,
                      enum declare_what what)
{
    struct diag_pos pos = lx->tok.pos;
    uint64_t count;
    bool is_signed;
    lex_next(lx);
    if (lx->tok.kind == TOK_RBRACK && lx->open_arrays && v->n == 0) {
        lex_next(lx); /* it can only be declared, so its size is irrelevant */
        derive(lx, v, 1, &pos);
        return;
    }
    if (lx->tok.kind == TOK_RBRACK)
        lang_fail(lx->l, &lx->tok.pos, "D_DECL_ARRNULL", NULL, "array dimension is missing");
    if (parse_is_type(&lx->tok)) {
        if (what == DECLARE_MEMBER || v->n > 0 || d->nkeys > 0)
            lang_fail(lx->l, &pos, "D_DECL_DYNOBJ", NULL,
                      what == DECLARE_MEMBER ? "a member cannot be an associative array"
                                             : "an array of associative arrays cannot be declared");
        if (what == DECLARE_TYPE)
            lang_fail(lx->l, &pos, "D_DECL_DYNOBJ", NULL,
                      "an associative array is a variable, not a type");
        key_types(lx, d); /* dimensions after it are those of its elements */
        return;
    }
    struct diag_pos at = lx->tok.pos;
    if (!constant(lx, &count, &is_signed) || count == 0 || (is_signed && (int64_t)count < 0))
        lang_fail(lx->l, &at, "D_DECL_ARRSUB", NULL,
                  "positive integral constant expression expected as array dimension");
    if (count > UINT32_MAX)
        lang_fail(lx->l, &at, "D_DECL_ARRBIG", NULL, "array dimension is too large");
    parse_expect(lx, TOK_RBRACK);
    derive(lx, v, (int64_t)count, &pos);
}

static void direct(struct lex *lx, struct derivations *v, struct declared *d,
                   enum declare_what what)
{
    struct diag_pos stars[DERIVED_MAX];
    unsigned nstars = 0;
    if (++lx->nest > LANG_NEST_MAX)
        lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", NULL, "declarator is nested too deeply");
    while (lx->tok.kind == TOK_STAR || lx->tok.kind == TOK_KW_CONST ||
           lx->tok.kind == TOK_KW_VOLATILE || lx->tok.kind == TOK_KW_RESTRICT) {
        if (lx->tok.kind == TOK_STAR && nstars == DERIVED_MAX)
            lang_fail(lx->l, &lx->tok.pos, "D_SYNTAX", NULL, "declarator is too deep");
        if (lx->tok.kind == TOK_STAR)
            stars[nstars++] = lx->tok.pos;
        lex_next(lx);
    }
    if (lx->tok.kind == TOK_IDENT && what != DECLARE_TYPE) {
        d->name = lx->tok.str;
        d->pos = lx->tok.pos;
        lex_next(lx);
    } else if (lx->tok.kind == TOK_LPAR) {
        lex_next(lx);
        direct(lx, v, d, what);
        parse_expect(lx, TOK_RPAR);
    } else if (what == DECLARE_NAME || (what == DECLARE_MEMBER && lx->tok.kind != TOK_COLON)) {
        if (parse_is_type(&lx->tok))
            lang_fail(lx->l, &lx->tok.pos, "D_DECL_IDENT", NULL,
                      "a name was expected, this is a type");
        if (what == DECLARE_MEMBER)
            lang_fail(lx->l, &lx->tok.pos, "D_DECL_MNAME", NULL, "member declaration has no name");
        lex_syntax(lx, NULL);
    }
    for (;;) {
        if (lx->tok.kind == TOK_LBRACK) {
            dimension(lx, v, d, what);
        } else if (lx->tok.kind == TOK_LPAR) {
            struct diag_pos pos = lx->tok.pos;
            parse_params(lx); /* checked and discarded: a program's functions cannot be called */
            derive(lx, v, DERIVE_FUNCTION, &pos);
        } else {
            break;
        }
    }
    while (nstars > 0)
        derive(lx, v, DERIVE_POINTER, &stars[--nstars]);
    lx->nest--;
}

void declarator(struct lex *lx, struct declared *d, const struct type *base, enum declare_what what)
{
    struct derivations *v = lang_alloc(lx->l, sizeof *v);
    memset(d, 0, sizeof *d);
    d->pos = lx->tok.pos;
    direct(lx, v, d, what);
    d->type = base;
    while (v->n > 0) {
        int64_t how = v->how[--v->n];
        d->type = how == DERIVE_POINTER    ? type_pointer(lx->l, d->type)
                  : how == DERIVE_FUNCTION ? function_of(lx, d->type)
                                           : array_of(lx, &v->pos[v->n], d->type, (uint32_t)how);
    }
}

const struct type *parse_type(struct lex *lx)
{
    struct declared d;
    declarator(lx, &d, parse_spec(lx), DECLARE_TYPE);
    return d.type;
}

/* -- tags -------------------------------------------------------------------------------------- */

/* Returns the type of a tag and creates it if it is new. name "": no tag, so each is a separate
 * type. Headers and the program may each define the same tag. */
static struct type *tag_type(struct lex *lx, enum tok kw, const char *tag)
{
    struct lang *l = lx->l;
    const char *name = lang_printf(l, "%s %s", lex_keyword(kw), tag[0] ? tag : "(anonymous)");
    struct hash *own = l->include > 0 ? &l->ctypes : &l->types;
    struct hash *other = l->include > 0 ? &l->types : &l->ctypes;
    struct type *t = tag[0] ? hash_gets(own, name) : NULL;
    if (!t && tag[0] && lx->tok.kind != TOK_LBRACE)
        t = hash_gets(other, name);
    if (t)
        return t;
    t = lang_alloc(l, sizeof *t);
    t->name = name;
    if (kw == TOK_KW_ENUM) {
        t->kind = TYPE_INT;
        t->is_signed = true;
        t->is_enum = true;
    } else {
        t->kind = kw == TOK_KW_STRUCT ? TYPE_STRUCT : TYPE_UNION;
        t->sou = lang_alloc(l, sizeof *t->sou);
        t->sou->align = 1;
        t->sou->tag = tag[0] ? name : NULL;
    }
    if (tag[0] && hash_puts(own, name, t) != 0)
        lang_nomem(l);
    return t;
}

static const struct type *foreign_tag(struct lang *l, enum tok kw, const char *tag)
{
    return foreign_named(l,
                         kw == TOK_KW_STRUCT  ? FOREIGN_STRUCT
                         : kw == TOK_KW_UNION ? FOREIGN_UNION
                                              : FOREIGN_ENUM,
                         tag);
}

/* Returns the kernel's type of a tag that the program does not define; NULL: there is none. */
static const struct type *kernel_type_of_tag(struct lex *lx, enum tok kw, const char *tag)
{
    struct lang *l = lx->l;
    const char *name = tag[0] ? lang_printf(l, "%s %s", lex_keyword(kw), tag) : NULL;
    /* struct file; declares one of the program's own */
    return name && lx->tok.kind != TOK_LBRACE && lx->tok.kind != TOK_SEMI &&
                   !hash_gets(&l->types, name) && !hash_gets(&l->ctypes, name)
               ? foreign_tag(l, kw, tag)
               : NULL;
}

/* The position of the next member, in bits, because bit-fields share units. */
struct layout {
    uint64_t bit;
    bool is_union;
    struct type_member **tail; /* of the list of members */
};

static void place(struct lang *l, struct layout *at, struct type_sou *s, struct type_member *m)
{
    uint32_t size = type_size(m->type), align = foreign_align(l, m->type);
    uint64_t unit = (uint64_t)size * 8, bit = at->is_union ? 0 : at->bit;
    if (m->bits == 0) {
        bit = (bit + 7) / 8 * 8;
        bit = (bit + align * 8u - 1) / (align * 8u) * (align * 8u);
        m->offset = (uint32_t)(bit / 8);
        bit += unit;
    } else {
        if (bit / unit != (bit + m->bits - 1u) / unit) /* it may not cross a unit of its type */
            bit = (bit + unit - 1) / unit * unit;
        m->offset = (uint32_t)(bit / unit * size);
        m->bit = (uint8_t)(bit % unit);
        bit += m->bits;
    }
    if (align > s->align)
        s->align = align;
    if (bit > at->bit)
        at->bit = bit;
}

/* Parses the width after ":". */
static void bit_field(struct lex *lx, struct layout *at, struct type_member *m)
{
    struct diag_pos pos = lx->tok.pos;
    uint64_t bits;
    bool is_signed;
    if (m->type->kind != TYPE_INT)
        lang_fail(lx->l, &pos, "D_DECL_BFTYPE", NULL, "a bit-field cannot be of type %s",
                  m->type->name);
    if (!constant(lx, &bits, &is_signed) || (is_signed && (int64_t)bits < 0) ||
        (bits == 0 && m->name))
        lang_fail(lx->l, &pos, "D_DECL_BFCONST", NULL,
                  "positive integral constant expression expected as bit-field width");
    if (bits > m->type->size * 8u)
        lang_fail(lx->l, &pos, "D_DECL_BFSIZE", NULL, "bit-field is wider than its type %s",
                  m->type->name);
    m->bits = (uint8_t)bits;
    (void)at;
}

/* Records a member's name; returns false if the struct or union already has it. */
static bool is_first(struct lang *l, const struct type_sou *s, const char *name)
{
    size_t len = sizeof s + strlen(name);
    char *key = lang_alloc(l, len);
    memcpy(key, &s, sizeof s);
    memcpy(key + sizeof s, name, len - sizeof s);
    if (hash_get(&l->members, key, len))
        return false;
    if (hash_put(&l->members, key, len, l) != 0)
        lang_nomem(l);
    return true;
}

static void member(struct lex *lx, struct type *t, struct layout *at, const struct type *base)
{
    struct declared d;
    struct type_sou *s = t->sou;
    declarator(lx, &d, base, DECLARE_MEMBER);
    struct type_member *m = lang_alloc(lx->l, sizeof *m);
    m->name = d.name;
    m->type = type_in_memory(lx->l, d.type);
    bool is_bits = lx->tok.kind == TOK_COLON;
    if (is_bits) {
        lex_next(lx);
        bit_field(lx, at, m);
    }
    check_object(lx, &d.pos, m->type, "a member");
    if (is_bits && m->bits == 0) /* ends no unit: language.md 2.3 */
        return;
    place(lx->l, at, s, m);
    if ((at->bit + 7) / 8 > TYPE_SIZE_SOU)
        lang_fail(lx->l, &d.pos, "D_UNKNOWN", NULL, "%s is too large: the maximum is %u bytes",
                  t->name, (unsigned)TYPE_SIZE_SOU);
    if (!m->name)
        return;
    if (!is_first(lx->l, s, m->name))
        lang_fail(lx->l, &d.pos, "D_UNKNOWN", NULL, "%s has two members '%s'", t->name, m->name);
    *at->tail = m;
    at->tail = &m->next;
}

static void members(struct lex *lx, struct type *t)
{
    struct layout at = {0, t->kind == TYPE_UNION, &t->sou->members};
    while (lx->tok.kind != TOK_RBRACE) {
        const struct type *base = parse_spec(lx);
        for (;;) {
            member(lx, t, &at, base);
            if (lx->tok.kind != TOK_COMMA)
                break;
            lex_next(lx);
        }
        if (lx->tok.kind != TOK_SEMI)
            lex_syntax(lx, NULL);
        lex_next(lx);
    }
    struct type_sou *s = t->sou;
    s->size = (uint32_t)((at.bit + 7) / 8 + s->align - 1) / s->align * s->align;
    s->complete = true;
}

static void enumerators(struct lex *lx, struct type *t)
{
    struct lang *l = lx->l;
    const struct type_enum **tail = &t->enums;
    int64_t next = 0;
    for (;;) {
        struct diag_pos pos = lx->tok.pos;
        if (lx->tok.kind != TOK_IDENT)
            lex_syntax(lx, NULL);
        struct type_enum *e = lang_alloc(l, sizeof *e);
        e->name = lx->tok.str;
        lex_next(lx);
        if (lx->tok.kind == TOK_ASSIGN) {
            uint64_t v;
            bool is_signed;
            lex_next(lx);
            if (!constant(lx, &v, &is_signed))
                lang_fail(l, &pos, "D_DECL_ENCONST", NULL,
                          "enumerator '%s' must be assigned an integral constant expression",
                          e->name);
            next = !is_signed && v > INT32_MAX ? INT64_MAX : (int64_t)v;
        }
        if (next < INT32_MIN || next > INT32_MAX)
            lang_fail(l, &pos, "D_DECL_ENOFLOW", NULL,
                      "enumerator '%s' value overflows the range of int", e->name);
        bool taken = names_find(&l->globals, e->name) || typedef_find(l, e->name, strlen(e->name));
        for (const struct type_enum *o = taken ? t->enums : NULL; o; o = o->next) {
            if (strcmp(o->name, e->name) == 0)
                lang_fail(l, &pos, "D_UNKNOWN", NULL, "%s has two enumerators '%s'", t->name,
                          e->name);
        }
        if (taken && l->include == 0)
            lang_fail(l, &pos, "D_DECL_IDRED", "choose another name", "identifier redeclared: %s",
                      e->name);
        e->value = (int32_t)next++;
        *tail = e;
        tail = (const struct type_enum **)&e->next;
        if (!taken) { /* an included header may redefine a name that D defines */
            struct ident *id = names_add(l, &l->globals, e->name, ID_INT);
            id->type = t;
            id->num = (uint64_t)(int64_t)e->value;
        }
        t->size = 4; /* known from the first on: a later one may use it */
        if (lx->tok.kind != TOK_COMMA)
            break;
        lex_next(lx);
    }
    if (lx->tok.kind != TOK_RBRACE)
        lex_syntax(lx, NULL);
}

/* Returns struct MODULE`TAG, a type of the kernel. */
static const struct type *scoped_tag(struct lex *lx, const struct diag_pos *pos, enum tok kw,
                                     const char *tag)
{
    lx->l->knows_foreign |= !lx->l->library && !lx->l->opt->nodes; /* it speaks of the kernel */
    const struct type *t = foreign_tag(lx->l, kw, tag);
    if (!t)
        lang_fail(lx->l, pos, "D_UNKNOWN", lx->l->foreign_lack,
                  "failed to resolve type %s %s: Unknown type name", lex_keyword(kw), tag);
    return t;
}

const struct type *parse_tag(struct lex *lx)
{
    enum tok kw = lx->tok.kind;
    const char *tag = "";
    bool own = false;
    struct diag_pos pos = lx->tok.pos;
    lex_next(lx);
    if (lx->tok.kind == TOK_IDENT || lx->tok.kind == TOK_TYPE) {
        pos = lx->tok.pos;
        tag = lx->tok.str;
        lex_next(lx);
        if ((tag[0] == 'D' || tag[0] == 'C') && tag[1] == '`' && lx->tok.kind != TOK_LBRACE)
            tag += 2, own = true; /* from the program's own scope */
        if (strchr(tag, '`') && lx->tok.kind == TOK_LBRACE)
            lang_fail(lx->l, &pos, "D_DECL_SCOPE", NULL, "a tag cannot be scoped: %s", tag);
        if (strchr(tag, '`'))
            return scoped_tag(lx, &pos, kw, tag);
    } else if (lx->tok.kind != TOK_LBRACE) {
        lex_syntax(lx, NULL);
    }
    const struct type *known = own ? NULL : kernel_type_of_tag(lx, kw, tag);
    if (known)
        return known;
    struct type *t = tag_type(lx, kw, tag);
    if (lx->tok.kind != TOK_LBRACE)
        return t;
    if (++lx->nest > LANG_NEST_MAX)
        lang_fail(lx->l, &pos, "D_SYNTAX", NULL, "declaration is nested too deeply");
    if (t->is_enum ? t->enums != NULL : t->sou->complete || t->sou->members)
        lang_fail(lx->l, &pos, "D_DECL_TYPERED", NULL, "type redeclared: %s", t->name);
    lex_next(lx);
    if (kw == TOK_KW_ENUM)
        enumerators(lx, t);
    else
        members(lx, t);
    lex_next(lx);
    lx->nest--;
    return t;
}
