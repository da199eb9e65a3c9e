/* lists.c - see lists.h. Three sorted lists; their texts are in an arena. */
#include "web/lists.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "util/buftext.h"
#include "util/table.h"
#include "base/hash.h"
#include "util/json.h"
#include "web/running.h"

struct item {
    const char *module; /* of functions, else "" */
    const char *name;
    const char *json; /* of probes: the item; NULL: use the name */
};
struct list {
    struct item *item;
    size_t n, cap;
};
struct lists {
    struct arena arena;
    struct list list[3];         /* by enum lists_what */
    struct hash probes, modules; /* already in the lists; only while they are being made */
    erltrace_names_t *names;     /* NULL: of the local tier, which is at hand */
    bool failed;
};

static bool add(struct lists *c, enum lists_what what, struct item item)
{
    struct list *l = &c->list[what];
    if (l->n == l->cap) {
        size_t cap = l->cap > 0 ? l->cap * 2 : 256;
        struct item *more = realloc(l->item, cap * sizeof *more);
        if (more == NULL)
            return false;
        l->item = more;
        l->cap = cap;
    }
    l->item[l->n++] = item;
    return true;
}

/* Scripts write erlang* for "erlang4711": returns the length of the name without the number. */
static size_t provider_length(const char *s)
{
    size_t n = strlen(s);
    while (n > 1 && isdigit((unsigned char)s[n - 1]))
        n--;
    return n;
}

static const char *probe_json(struct lists *c, const struct erltrace_probe *p)
{
    struct erltrace_about about;
    struct buf b = BUF_INIT;
    bool known = erltrace_probe_about(p, &about) == 0;
    buf_adds(&b, "{\"name\":");
    json_text(&b, p->name);
    json_key(&b, "provider");
    buf_json(&b, p->provider, provider_length(p->provider));
    if (p->function[0] != '\0')
        json_bool_field(&b, "function", true);
    json_text_field(&b, "text", known ? about.text : NULL);
    json_text_field(&b, "section", known ? about.section : NULL);
    json_key(&b, "args");
    buf_addc(&b, '[');
    for (size_t i = 0; known && i < about.nargs; i++) {
        buf_adds(&b, i > 0 ? ",{\"type\":" : "{\"type\":");
        json_text(&b, about.arg[i].type);
        json_text_field(&b, "name", about.arg[i].name);
        json_text_field(&b, "text", about.arg[i].text);
        buf_addc(&b, '}');
    }
    buf_adds(&b, "]}");
    const char *copy = b.oom ? NULL : arena_strndup(&c->arena, b.data, b.len);
    buf_free(&b);
    return copy;
}

static bool add_probe(struct lists *c, const struct erltrace_probe *p)
{
    if (hash_gets(&c->probes, p->name) != NULL)
        return true;
    const char *name = arena_strdup(&c->arena, p->name), *json = probe_json(c, p);
    return name != NULL && json != NULL && hash_puts(&c->probes, name, c) == 0 &&
           add(c, LISTS_PROBES, (struct item){"", name, json});
}

static bool add_function(struct lists *c, const struct erltrace_probe *p)
{
    const char *module = hash_gets(&c->modules, p->module);
    if (module == NULL) {
        module = arena_strdup(&c->arena, p->module);
        if (module == NULL || hash_puts(&c->modules, module, (void *)(uintptr_t)module) != 0 ||
            !add(c, LISTS_MODULES, (struct item){"", module, NULL}))
            return false;
    }
    const char *name = arena_strdup(&c->arena, p->function);
    return name != NULL && add(c, LISTS_FUNCTIONS, (struct item){module, name, NULL});
}

static int on_probe(const struct erltrace_probe *p, void *arg)
{
    struct lists *c = arg;
    bool function = p->function[0] != '\0' && strcmp(p->name, "entry") == 0;
    c->failed = !add_probe(c, p) || (function && !add_function(c, p));
    return c->failed;
}

static int compare(const void *px, const void *py)
{
    const struct item *x = px, *y = py;
    int c = strcmp(x->module, y->module);
    return c != 0 ? c : strcmp(x->name, y->name);
}

struct lists *lists_make(const struct web_config *config, const char *node, struct diag_list *diags)
{
    const struct message none = {0};
    struct lists *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    arena_init(&c->arena);
    erltrace_t *h = run_open(config, &none, 0, diags);
    bool ok = h != NULL && run_target(config, h, node, diags);
    if (ok && (erltrace_probe_iter(h, NULL, on_probe, NULL, c) != 0 || c->failed ||
               (node[0] != '\0' && (c->names = erltrace_names_take(h)) == NULL))) {
        diag_list_failed(diags, h);
        ok = false;
    }
    erltrace_close(h);
    hash_free(&c->probes);
    hash_free(&c->modules);
    for (size_t i = 0; i < 3; i++)
        if (c->list[i].n > 0)
            qsort(c->list[i].item, c->list[i].n, sizeof(struct item), compare);
    if (ok)
        return c;
    lists_free(c);
    return NULL;
}

void lists_free(struct lists *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < 3; i++)
        free(c->list[i].item);
    erltrace_names_free(c->names);
    arena_free(&c->arena);
    free(c);
}

/* Returns the index of the first item not before the prefix. */
static size_t first_of(const struct list *l, const struct item *from)
{
    size_t low = 0, high = l->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (compare(&l->item[mid], from) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void lists_list(const struct lists *c, enum lists_what what, const char *module, const char *prefix,
                size_t limit, struct buf *out)
{
    const struct list *l = &c->list[what];
    const struct item from = {what == LISTS_FUNCTIONS ? module : "", prefix, NULL};
    size_t n = 0, i = first_of(l, &from);
    bool more = false;
    buf_adds(out, "{\"items\":[");
    for (; i < l->n && strcmp(l->item[i].module, from.module) == 0 &&
           strncmp(l->item[i].name, prefix, strlen(prefix)) == 0;
         i++) {
        if ((more = n == limit))
            break;
        buf_adds(out, n++ > 0 ? "," : "");
        if (l->item[i].json != NULL)
            buf_adds(out, l->item[i].json);
        else
            json_text(out, l->item[i].name);
    }
    buf_printf(out, "],\"more\":%s}", more ? "true" : "false");
}

/* -- what a script matches --------------------------------------------------------------------- */

static int on_match(const struct erltrace_match *m, void *arg)
{
    struct buf *b = arg;
    buf_adds(b, b->data[b->len - 1] == '}' ? ",{" : "{");
    json_first_key(b, "line");
    buf_printf(b, "%d,\"column\":%d,\"length\":%d", m->line, m->column, m->length);
    json_text_field(b, "name", m->name);
    json_safe_int_field(b, "probes", (int64_t)m->probes);
    json_safe_int_field(b, "functions", (int64_t)m->functions);
    json_safe_int_field(b, "modules", (int64_t)m->modules);
    buf_addc(b, '}');
    return 0;
}

void lists_match(const struct lists *c, const struct web_config *config, const struct message *m,
                 struct diag_list *diags, struct buf *out)
{
    erltrace_t *h = run_open(config, m, ERLTRACE_O_CHECK, diags);
    bool ok = h != NULL && run_compile(h, m, diags);
    if (ok)
        ok =
            (c->names != NULL ? erltrace_target_names(h, c->names) : erltrace_target_local(h)) == 0;
    if (ok)
        ok = erltrace_enable(h) == 0;
    if (h != NULL && !ok)
        diag_list_failed(diags, h);
    buf_adds(out, "\"matches\":[");
    if (h != NULL)
        erltrace_match_iter(h, on_match, out);
    buf_addc(out, ']');
    json_safe_int_field(out, "functions", (int64_t)c->list[LISTS_FUNCTIONS].n);
    json_safe_int_field(out, "modules", (int64_t)c->list[LISTS_MODULES].n);
    erltrace_close(h);
}

/* -- about a node ------------------------------------------------------------------------------ */

struct about {
    struct buf *out;
    bool terms_off; /* by an option of this server, whatever the node says */
    size_t n;
};

static void put_finding(struct about *a, const char *subject, const char *level, const char *text,
                        const char *help)
{
    buf_adds(a->out, a->n++ > 0 ? ",{" : "{");
    json_first_key(a->out, "subject");
    json_text(a->out, subject);
    json_text_field(a->out, "level", level);
    json_text_field(a->out, "text", text);
    json_text_field(a->out, "help", help[0] != '\0' ? help : NULL);
    buf_addc(a->out, '}');
}

static int on_finding(const struct erltrace_finding *f, void *arg)
{
    struct about *a = arg;
    if (!a->terms_off || strcmp(f->subject, "terms") != 0)
        put_finding(a, f->subject, f->level, f->text, f->help);
    return 0;
}

bool lists_about(const struct web_config *config, const char *node, struct diag_list *diags,
                 struct buf *out)
{
    const struct message none = {0};
    struct about about = {.out = out};
    int64_t terms = 1;
    erltrace_t *h = run_open(config, &none, 0, diags);
    bool ok = h != NULL && run_target(config, h, node, diags);
    buf_adds(out, "{\"findings\":[");
    if (ok && erltrace_getopt(h, "terms", &terms) == 0 && terms == 0) {
        about.terms_off = true;
        put_finding(&about, "terms", "note",
                    "hidden by this server's option terms=off: scripts that look into terms are "
                    "refused, and arguments show none",
                    "");
    }
    if (ok && erltrace_examine(h, on_finding, &about) != 0) {
        diag_list_failed(diags, h);
        ok = false;
    }
    buf_adds(out, "]}");
    erltrace_close(h);
    return ok;
}
