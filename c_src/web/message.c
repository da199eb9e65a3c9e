/* message.c - the decoder: jansson builds a tree of the text, and a table says which fields each
 * type of message has. */
#include "web/message.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum field {
    ID,
    T,
    TRACE,
    N,
    NEWS,
    PAGE,
    ALL,
    ON,
    NODE,
    SCRIPT,
    NAME,
    VIEW,
    ARGS,
    OPTIONS,
    NFIELDS
};

static const char *const names[NFIELDS] = {
    [ID] = "id",     [T] = "t",       [TRACE] = "trace",     [N] = "n",           [NEWS] = "news",
    [PAGE] = "page", [ALL] = "all",   [NODE] = "node",       [SCRIPT] = "script", [NAME] = "name",
    [VIEW] = "view", [ARGS] = "args", [OPTIONS] = "options", [ON] = "on",
};

#define BIT(f) (1u << (f))

static const struct {
    const char *name;
    unsigned may, must; /* sets of fields; must is part of may */
} types[] = {
    [MESSAGE_START] = {"start",
                       BIT(ID) | BIT(PAGE) | BIT(NODE) | BIT(SCRIPT) | BIT(NAME) | BIT(VIEW) |
                           BIT(ARGS) | BIT(OPTIONS),
                       BIT(SCRIPT)},
    [MESSAGE_JOIN] = {"join", BIT(ID) | BIT(PAGE) | BIT(TRACE), BIT(TRACE)},
    [MESSAGE_REJOIN] = {"rejoin", BIT(ID) | BIT(PAGE) | BIT(TRACE) | BIT(N) | BIT(NEWS), BIT(PAGE)},
    [MESSAGE_CHECK] = {"check",
                       BIT(ID) | BIT(NODE) | BIT(SCRIPT) | BIT(NAME) | BIT(ARGS) | BIT(OPTIONS),
                       BIT(SCRIPT)},
    [MESSAGE_STOP] = {"stop", BIT(ALL), 0},
    [MESSAGE_RECORD] = {"record", BIT(ID) | BIT(ON), BIT(ON)},
    [MESSAGE_PING] = {"ping", BIT(T), 0},
};

/* Copies a string of at most `most` bytes; NULL: not such a string, or memory is out. */
static char *string_of(const json_t *v, size_t most)
{
    size_t n = json_string_length(v);
    if (!json_is_string(v) || n > most)
        return NULL;
    char *s = malloc(n + 1);
    if (s != NULL)
        memcpy(s, json_string_value(v), n + 1);
    return s;
}

static bool arguments(const json_t *v, struct message *m)
{
    if (!json_is_array(v) || json_array_size(v) > MESSAGE_ARGS)
        return false;
    for (size_t i = 0; i < json_array_size(v); i++) {
        if ((m->arg[i] = string_of(json_array_get(v, i), MESSAGE_SHORT)) == NULL)
            return false;
        m->nargs++;
    }
    return true;
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct message_option *)x)->name,
                  ((const struct message_option *)y)->name);
}

static bool option(const char *name, const json_t *v, struct message_option *o)
{
    if (strlen(name) > MESSAGE_SHORT || (o->name = strdup(name)) == NULL)
        return false;
    o->value = NULL;
    return json_is_true(v) || (o->value = string_of(v, MESSAGE_SHORT)) != NULL;
}

static bool options(json_t *v, struct message *m)
{
    const char *name;
    json_t *value;
    if (!json_is_object(v) || json_object_size(v) > MESSAGE_OPTIONS)
        return false;
    json_object_foreach(v, name, value)
    {
        if (json_is_false(value) || json_is_null(value))
            continue;
        if (!option(name, value, &m->option[m->noptions++]))
            return false;
    }
    qsort(m->option, m->noptions, sizeof m->option[0], by_name);
    return true;
}

static bool view(const json_t *v, struct message *m)
{
    m->view = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    return m->view != NULL && strlen(m->view) <= MESSAGE_VIEW;
}

static bool number(const json_t *v, int64_t *out)
{
    *out = json_is_integer(v) ? json_integer_value(v) : 0;
    return json_is_integer(v);
}

static bool natural(const json_t *v, uint64_t *out)
{
    int64_t n;
    bool ok = number(v, &n) && n >= 0;
    *out = ok ? (uint64_t)n : 0;
    return ok;
}

/* 32 hexadecimal digits. */
static bool page(const json_t *v, char out[MESSAGE_PAGE])
{
    const char *s = json_string_value(v);
    if (s == NULL || json_string_length(v) != MESSAGE_PAGE - 1 ||
        strspn(s, "0123456789abcdef") != MESSAGE_PAGE - 1)
        return false;
    memcpy(out, s, MESSAGE_PAGE);
    return true;
}

/* A time may have a fraction, which is cut off. */
static bool moment(const json_t *v, int64_t *out)
{
    if (!json_is_real(v))
        return number(v, out);
    double d = json_real_value(v);
    *out = d > -9e15 && d < 9e15 ? (int64_t)d : 0;
    return true;
}

static bool field(enum field f, json_t *v, struct message *m)
{
    bool ok = false;
    switch (f) {
    case ID: ok = number(v, &m->id); break;
    case T: ok = moment(v, &m->t); break;
    case TRACE: ok = natural(v, &m->trace); break;
    case N: ok = natural(v, &m->n); break;
    case NEWS: ok = natural(v, &m->news); break;
    case PAGE: ok = page(v, m->page); break;
    case ALL:
        ok = json_is_boolean(v);
        m->all = json_is_true(v);
        break;
    case ON:
        ok = json_is_boolean(v);
        m->on = json_is_true(v);
        break;
    case NODE: ok = (m->node = string_of(v, MESSAGE_SHORT)) != NULL; break;
    case SCRIPT: ok = (m->script = string_of(v, MESSAGE_SIZE)) != NULL; break;
    case NAME: ok = (m->name = string_of(v, MESSAGE_SHORT)) != NULL; break;
    case VIEW: ok = view(v, m); break;
    case ARGS: ok = arguments(v, m); break;
    case OPTIONS: ok = options(v, m); break;
    case NFIELDS: break;
    }
    return ok;
}

static const char *fields(json_t *root, struct message *m)
{
    for (unsigned f = 0; f < NFIELDS; f++) {
        json_t *v = json_object_get(root, names[f]);
        bool absent = v == NULL || json_is_null(v);
        if (absent && (types[m->type].must & BIT(f)) != 0)
            return "a field is missing";
        if (!absent && (types[m->type].may & BIT(f)) != 0 && !field((enum field)f, v, m))
            return "a field has the wrong type, or is too long";
    }
    return NULL;
}

const char *message_decode(const char *text, size_t len, struct message *m)
{
    const char *why = "the type is not known";
    memset(m, 0, sizeof *m);
    json_error_t where;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(root)) {
        json_decref(root);
        return "the message is not a JSON object";
    }
    const char *type = json_string_value(json_object_get(root, "type"));
    for (size_t i = 0; type != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(type, types[i].name) != 0)
            continue;
        m->type = (enum message_type)i;
        why = fields(root, m);
        break;
    }
    json_decref(root);
    if (why != NULL)
        message_free(m);
    return why;
}

static bool copied(const char *from, char **to)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

bool message_copy(const struct message *m, struct message *to)
{
    *to = (struct message){.type = m->type, .id = m->id};
    bool ok =
        copied(m->node, &to->node) && copied(m->script, &to->script) && copied(m->name, &to->name);
    for (; ok && to->nargs < m->nargs; to->nargs++)
        ok = copied(m->arg[to->nargs], &to->arg[to->nargs]);
    for (; ok && to->noptions < m->noptions; to->noptions++) {
        const struct message_option *from = &m->option[to->noptions];
        struct message_option *o = &to->option[to->noptions];
        ok = copied(from->name, &o->name) && copied(from->value, &o->value);
    }
    if (!ok)
        message_free(to);
    return ok;
}

void message_free(struct message *m)
{
    free(m->node);
    free(m->script);
    free(m->name);
    free(m->view);
    for (size_t i = 0; i < m->nargs; i++)
        free(m->arg[i]);
    for (size_t i = 0; i < m->noptions; i++) {
        free(m->option[i].name);
        free(m->option[i].value);
    }
    memset(m, 0, sizeof *m);
}
