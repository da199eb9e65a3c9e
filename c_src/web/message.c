/* message.c - the decoder: jansson builds a tree of the text, and a table says which fields each
 * type of message has. */
#include "web/message.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum field { ID, T, TRACE, ALL, NODE, SCRIPT, NAME, VIEW, ARGS, OPTIONS, NFIELDS };

static const char *const names[NFIELDS] = {
    [ID] = "id",         [T] = "t",       [TRACE] = "trace", [ALL] = "all",   [NODE] = "node",
    [SCRIPT] = "script", [NAME] = "name", [VIEW] = "view",   [ARGS] = "args", [OPTIONS] = "options",
};

#define BIT(f) (1u << (f))

static const struct {
    const char *name;
    unsigned may, must; /* sets of fields; must is part of may */
} types[] = {
    [MESSAGE_START] = {"start",
                       BIT(ID) | BIT(NODE) | BIT(SCRIPT) | BIT(NAME) | BIT(VIEW) | BIT(ARGS) |
                           BIT(OPTIONS),
                       BIT(SCRIPT)},
    [MESSAGE_JOIN] = {"join", BIT(ID) | BIT(TRACE), BIT(TRACE)},
    [MESSAGE_CHECK] = {"check", BIT(ID) | BIT(SCRIPT) | BIT(NAME) | BIT(ARGS), BIT(SCRIPT)},
    [MESSAGE_STOP] = {"stop", BIT(ALL), 0},
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
    int64_t n = 0;
    bool ok = false;
    switch (f) {
    case ID: ok = number(v, &m->id); break;
    case T: ok = moment(v, &m->t); break;
    case TRACE:
        ok = number(v, &n) && n >= 0;
        m->trace = (uint64_t)n;
        break;
    case ALL:
        ok = json_is_boolean(v);
        m->all = json_is_true(v);
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
