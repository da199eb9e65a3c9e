/* foreign_types.c - types of the system where the program will run (probe/foreign.h), as types of
 * D.
 *
 * They are made when they are named, and the members of a struct when one of them is: the types of
 * a kernel lead from anywhere to everywhere. A struct that the program only declares is the
 * foreign one of its name. */
#include "lang/prog.h"
#include "util/buftext.h"

#include <string.h>

enum { DEPTH = 32, MEMBERS_MOST = 10000, ENUMERATORS_MOST = 2000 };

/* Returns whether this place of the program may speak of foreign types. Libraries do not, so that
 * they mean the same in every tier; what of them a clause uses is checked there. */
static bool may_speak(const struct lang *l)
{
    return (l->knows_foreign || l->opt->kernel) && !l->library;
}

const struct foreign *foreign_of(struct lang *l)
{
    const struct lang_options *o = l->opt;
    if (!may_speak(l))
        return NULL;
    if (!l->foreign_asked && o->foreign)
        l->foreign = o->foreign(o->setopt_arg, &l->foreign_lack);
    l->foreign_asked = true;
    return l->foreign;
}

static const struct type *made(struct lang *l, uint32_t number, unsigned depth);

static void remember(struct lang *l, uint32_t number, const struct type *t)
{
    uint32_t *key = lang_alloc(l, sizeof *key);
    *key = number;
    /* Tables keep pointers to what may change; types are not changed through this one. */
    if (hash_put(&l->foreign_types, key, sizeof *key, (void *)(uintptr_t)t) != 0)
        lang_nomem(l);
}

static const struct type *integer(const struct foreign_type *f)
{
    static const enum type_id by_size[][2] = {
        {T_UCHAR, T_CHAR}, {T_USHORT, T_SHORT}, {T_UINT, T_INT}, {T_ULONG, T_LONG}};
    const unsigned log = f->size == 1 ? 0 : f->size == 2 ? 1 : f->size == 4 ? 2 : 3;
    const bool is_char = strcmp(f->name, "char") == 0; /* whose sign differs between kernels */
    return &type_c[f->is_bool ? T_BOOL : by_size[log][f->is_signed || is_char]];
}

static struct type *new_type(struct lang *l, enum type_kind kind, const char *name, uint32_t size)
{
    struct type *t = lang_alloc(l, sizeof *t);
    t->kind = kind;
    t->name = name;
    t->size = size;
    return t;
}

static const char *tagged(struct lang *l, const char *kind, const char *tag)
{
    return lang_printf(l, "%s %s", kind, tag[0] ? tag : "(anonymous)");
}

static const struct type *enumeration(struct lang *l, uint32_t number, const struct foreign_type *f)
{
    struct type *t = new_type(l, TYPE_INT, tagged(l, "enum", f->name), (uint32_t)f->size);
    const struct type_enum **tail = &t->enums;
    const char *name;
    int64_t value;
    t->is_signed = f->is_signed;
    t->is_enum = true;
    for (uint32_t i = 0;
         i < ENUMERATORS_MOST && l->foreign->enumerator(l->foreign->arg, number, i, &name, &value);
         i++) {
        if (value != (int32_t)value)
            continue;
        struct type_enum *e = lang_alloc(l, sizeof *e);
        *e = (struct type_enum){.name = name, .value = (int32_t)value};
        *tail = e;
        tail = (const struct type_enum **)&e->next;
    }
    return t;
}

/* Lets a struct that is not defined be this foreign one; its members come when they are needed. */
static void become(struct type_sou *s, uint32_t number, const struct foreign_type *f)
{
    if (!f->is_complete || f->size > TYPE_SIZE_SOU)
        return;
    s->size = (uint32_t)f->size;
    s->align = 1; /* until its members are known: foreign_align */
    s->complete = true;
    s->foreign = number;
}

/* Returns the program's struct of this name, if it is one that is only declared. */
static struct type *declared_here(const struct lang *l, const char *name)
{
    struct type *t = hash_gets(&l->types, name);
    t = t ? t : hash_gets(&l->ctypes, name);
    return t && !t->sou->complete && !t->sou->members ? t : NULL;
}

/* Returns the number of the definition of a struct or union that is only declared there. */
static uint32_t definition(const struct lang *l, const struct foreign_type *f)
{
    const struct foreign *k = l->foreign;
    const uint32_t found = k->find(k->arg, "", FOREIGN_STRUCT, f->name);
    return found != 0 ? found : k->find(k->arg, "", FOREIGN_UNION, f->name);
}

static const struct type *aggregate(struct lang *l, uint32_t number, const struct foreign_type *f,
                                    unsigned depth)
{
    const bool is_struct = f->kind == FOREIGN_STRUCT;
    const uint32_t whole = !f->is_complete && f->name[0] ? definition(l, f) : 0;
    if (whole != 0 && whole != number)
        return made(l, whole, depth + 1);
    const char *name = tagged(l, is_struct ? "struct" : "union", f->name);
    struct type *t = f->name[0] ? declared_here(l, name) : NULL;
    if (!t) {
        t = new_type(l, is_struct ? TYPE_STRUCT : TYPE_UNION, name, 0);
        t->sou = lang_alloc(l, sizeof *t->sou);
        t->sou->align = 1;
        t->sou->tag = f->name[0] ? name : NULL;
    }
    become(t->sou, number, f);
    return t;
}

static const struct type *function(struct lang *l, uint32_t number)
{
    struct buf text = BUF_INIT;
    l->foreign->text(l->foreign->arg, number, &text);
    const char *name = text.oom ? NULL : arena_strndup(&l->arena, buf_str(&text), text.len);
    buf_free(&text);
    if (!name)
        lang_nomem(l);
    return new_type(l, TYPE_FUNC, name, 0);
}

static const struct type *renamed(struct lang *l, const struct type *of, const char *name)
{
    struct type *t = lang_alloc(l, sizeof *t);
    *t = *of;
    t->name = name;
    return t;
}

static bool is_word(uint64_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

static const struct type *build(struct lang *l, const struct foreign_type *is, unsigned depth)
{
    const struct foreign_type f = *is;
    const uint32_t number = f.number;
    const struct type *of;
    switch (f.kind) {
    case FOREIGN_INT:
        return is_word(f.size) ? integer(&f)
               : f.size == 16  ? type_array(l, &type_c[T_ULONG], 2) /* shown as it lies there */
                               : &type_c[T_VOID];
    case FOREIGN_FLOAT:
        return f.size == 4 || f.size == 8 ? &type_c[f.size == 4 ? T_FLOAT : T_DOUBLE]
                                          : &type_c[T_VOID];
    case FOREIGN_ENUM: return is_word(f.size) ? enumeration(l, number, &f) : &type_c[T_VOID];
    case FOREIGN_STRUCT:
    case FOREIGN_UNION: return aggregate(l, number, &f, depth);
    case FOREIGN_FUNCTION: return function(l, number);
    case FOREIGN_POINTER: return type_pointer(l, made(l, f.of, depth + 1));
    case FOREIGN_TYPEDEF:
        of = made(l, f.of, depth + 1);
        return f.name[0] && of->kind != TYPE_VOID ? renamed(l, of, f.name) : of;
    case FOREIGN_ARRAY:
        of = made(l, f.of, depth + 1);
        if (of->kind == TYPE_VOID || of->kind == TYPE_FUNC ||
            (uint64_t)f.count * type_size(of) > TYPE_SIZE_SOU)
            return &type_c[T_VOID];
        return type_array(l, of, f.count);
    case FOREIGN_VOID: break;
    }
    return &type_c[T_VOID];
}

static const struct type *made(struct lang *l, uint32_t number, unsigned depth)
{
    struct foreign_type f;
    l->foreign->type(l->foreign->arg, number, &f);
    const struct type *t = f.number != 0 && depth < DEPTH
                               ? hash_get(&l->foreign_types, &f.number, sizeof f.number)
                               : &type_c[T_VOID];
    if (!t) {
        t = build(l, &f, depth);
        remember(l, f.number, t);
    }
    return t;
}

const struct type *foreign_type(struct lang *l, uint32_t number)
{
    return made(l, number, 0);
}

const struct type *foreign_named(struct lang *l, enum foreign_kind kind, const char *name)
{
    const struct foreign *f = foreign_of(l);
    const char *tick = strchr(name, '`');
    const char *module = tick ? lang_strndup(l, name, (size_t)(tick - name)) : "";
    const uint32_t number = f ? f->find(f->arg, module, kind, tick ? tick + 1 : name) : 0;
    return number != 0 ? foreign_type(l, number) : NULL;
}

bool lang_incomplete(struct lang *l, const struct type *t)
{
    const struct foreign *f;
    struct foreign_type is;
    if (!type_is_sou(t) || t->sou->complete || t->sou->members || !t->sou->tag ||
        !(f = foreign_of(l)))
        return type_is_incomplete(t);
    const char *tag = strchr(t->sou->tag, ' ') + 1;
    const uint32_t number =
        f->find(f->arg, "", t->kind == TYPE_STRUCT ? FOREIGN_STRUCT : FOREIGN_UNION, tag);
    if (number != 0) {
        f->type(f->arg, number, &is);
        become(t->sou, is.number, &is);
        if (!hash_get(&l->foreign_types, &is.number, sizeof is.number))
            remember(l, is.number, t);
    }
    return type_is_incomplete(t);
}

/* Adds the members of a struct, and those of anonymous structs in it. */
static struct type_member **add_members(struct lang *l, uint32_t number, uint64_t base,
                                        struct type_member **tail, unsigned depth, unsigned *left)
{
    struct foreign_member from;
    for (uint32_t i = 0; *left > 0 && l->foreign->member(l->foreign->arg, number, i, &from); i++) {
        struct foreign_type is;
        --*left;
        const uint64_t bit = base + from.bit;
        l->foreign->type(l->foreign->arg, from.type, &is);
        if (from.name[0] == '\0') {
            if (depth < DEPTH && (is.kind == FOREIGN_STRUCT || is.kind == FOREIGN_UNION))
                tail = add_members(l, from.type, bit, tail, depth + 1, left);
            continue;
        }
        const struct type *t = foreign_type(l, from.type);
        const uint64_t unit = (uint64_t)type_size(t) * 8;
        struct type_member *m = lang_alloc(l, sizeof *m);
        *m = (struct type_member){.name = from.name, .type = t, .offset = (uint32_t)(bit / 8)};
        if (from.bits > 0) {
            const uint64_t start = unit > 0 ? bit / unit * unit : 0;
            if (t->kind != TYPE_INT || from.bits > unit || bit - start + from.bits > unit)
                continue; /* no load reads it as a whole */
            m->offset = (uint32_t)(start / 8);
            m->bit = (uint8_t)(bit - start);
            m->bits = (uint8_t)from.bits;
        }
        if (bit / 8 > TYPE_SIZE_SOU)
            continue;
        *tail = m;
        tail = &m->next;
    }
    return tail;
}

static uint32_t align_of(struct lang *l, const struct type *t, unsigned depth)
{
    uint32_t most = 1;
    while (t->kind == TYPE_ARRAY)
        t = t->of;
    if (!type_is_sou(t) || t->sou->foreign == 0)
        return type_align(t);
    for (const struct type_member *m = depth < DEPTH ? lang_members(l, t) : NULL; m; m = m->next) {
        const uint32_t align = align_of(l, m->type, depth + 1);
        if (m->offset % align == 0 && t->sou->size % align == 0 && align > most)
            most = align; /* else it is packed */
    }
    return most;
}

uint32_t foreign_align(struct lang *l, const struct type *t)
{
    return align_of(l, t, 0);
}

const struct type_member *lang_members(struct lang *l, const struct type *t)
{
    struct type_sou *s = t->sou;
    unsigned left = MEMBERS_MOST;
    if (s->foreign != 0 && !s->members)
        add_members(l, s->foreign, 0, &s->members, 0, &left);
    return s->members;
}

const char *foreign_name(const char *name)
{
    static const char module[] = "vmlinux`";
    return name[0] == '`'                                  ? name + 1
           : strncmp(name, module, sizeof module - 1) == 0 ? name + sizeof module - 1
                                                           : name;
}

bool foreign_constant(struct lang *l, const char *name, int64_t *value, const struct type **t)
{
    const struct foreign *f = foreign_of(l);
    uint32_t number;
    if (!f || !f->constant(f->arg, foreign_name(name), value, &number))
        return false;
    *t = foreign_type(l, number);
    return type_is_int(*t);
}
