/* lists.c - see lists.h. Four sorted lists; their texts are in an arena.
 *
 * An item belongs to a group: a probe to its provider, and to "", unless it is one of many of the
 * kernel; a module of a node to "erlang"; a function to its provider and module. (The kernel's
 * probes have a single module, which scripts leave out: their functions belong to the provider
 * alone.) */
#include "web/lists.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "util/buftext.h"
#include "util/table.h"
#include "base/hash.h"
#include "util/json.h"
#include "web/running.h"

enum { MANY = 256 /* probes of a provider of the kernel: then listed only where it is named */ };

struct item {
    const char *group;
    const char *name;
    const char *json; /* of probes: the item; NULL: use the name */
    bool kernel;      /* of probes: it is one of the kernel */
};
struct list {
    struct item *item;
    size_t n, cap;
};
struct lists {
    struct arena arena;
    struct list list[LISTS_KINDS];
    struct hash known; /* kind, group and name of what is in the lists; only while they are made */
    erltrace_names_t *names;   /* NULL: of the local tier, which is at hand */
    pid_t process;             /* run_process */
    size_t functions, modules; /* of the node */
    bool failed;
    /* While they are made. */
    bool kernel; /* of the kernel, else of a node or of this process */
    struct buf key;
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

/* Returns the one copy of a text, "GROUP:MORE" or any other; NULL when memory is exhausted.
 * *is_new: it was made now. */
static const char *one(struct lists *c, bool *is_new, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static const char *one(struct lists *c, bool *is_new, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_reset(&c->key);
    buf_vprintf(&c->key, format, args);
    va_end(args);
    const char *known = c->key.oom ? NULL : hash_gets(&c->known, buf_str(&c->key));
    *is_new = known == NULL;
    if (known != NULL || c->key.oom)
        return known;
    char *text = arena_strdup(&c->arena, buf_str(&c->key));
    return text != NULL && hash_puts(&c->known, text, text) == 0 ? text : NULL;
}

static bool add_probe(struct lists *c, const struct erltrace_probe *p)
{
    bool is_new;
    const int n = (int)provider_length(p->provider);
    const char *group = one(c, &is_new, "%.*s:", n, p->provider);
    if (group == NULL)
        return false;
    if (is_new) {
        const char *provider = arena_strndup(&c->arena, p->provider, (size_t)n);
        if (provider == NULL || !add(c, LISTS_PROVIDERS, (struct item){"", provider, NULL, false}))
            return false;
    }
    if (one(c, &is_new, "%s::%s", group, p->name) == NULL)
        return false;
    if (!is_new)
        return true;
    const char *name = arena_strdup(&c->arena, p->name), *json = probe_json(c, p);
    return name != NULL && json != NULL &&
           add(c, LISTS_PROBES, (struct item){group, name, json, c->kernel});
}

static bool add_function(struct lists *c, const struct erltrace_probe *p)
{
    bool is_new;
    const int n = (int)provider_length(p->provider);
    const char *module = one(c, &is_new, "%.*s:%s", n, p->provider, p->module);
    if (module == NULL)
        return false;
    const char *group = module, *own = module + n + 1;
    const char *modules = is_new ? one(c, &is_new, "%.*s:", n, p->provider) : module;
    if (modules == NULL ||
        (modules != module && !add(c, LISTS_MODULES, (struct item){modules, own, NULL, false})))
        return false;
    if (c->kernel)
        group = one(c, &is_new, "%.*s:", n, p->provider);
    const char *name = arena_strdup(&c->arena, p->function);
    return group != NULL && name != NULL &&
           add(c, LISTS_FUNCTIONS, (struct item){group, name, NULL, false});
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
    int c = strcmp(x->group, y->group);
    return c != 0 ? c : strcmp(x->name, y->name);
}

static void sort(struct list *l)
{
    if (l->n > 0)
        qsort(l->item, l->n, sizeof(struct item), compare);
}

/* Sorts the lists, and puts probes into the group "" as well. */
static bool finish(struct lists *c)
{
    struct list *l = &c->list[LISTS_PROBES];
    for (size_t i = 0; i < LISTS_KINDS; i++)
        sort(&c->list[i]);
    for (size_t i = 0, all = l->n, n; i < all; i += n) {
        for (n = 1; i + n < all && l->item[i + n].group == l->item[i].group; n++)
            ;
        for (size_t k = i; (n <= MANY || !l->item[i].kernel) && k < i + n; k++)
            if (!add(c, LISTS_PROBES, (struct item){"", l->item[k].name, l->item[k].json, false}))
                return false;
    }
    sort(l);
    return true;
}

/* Adds the probes of the kernel, if pages may have them; one that cannot tell has none. */
static bool add_kernel(struct lists *c, const struct web_config *config)
{
    const struct message none = {0};
    struct diag_list ignored = {0};
    erltrace_t *h = config->kernel ? run_open(config, &none, 0, &ignored) : NULL;
    c->kernel = true;
    if (h != NULL && erltrace_target_kernel(h) == 0)
        (void)erltrace_probe_iter(h, NULL, on_probe, NULL, c);
    erltrace_close(h);
    diag_list_free(&ignored);
    return !c->failed;
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
    c->process = ok ? run_process(config, h, node) : 0;
    if (ok && (erltrace_probe_iter(h, NULL, on_probe, NULL, c) != 0 || c->failed ||
               (node[0] != '\0' && (c->names = erltrace_names_take(h)) == NULL))) {
        diag_list_failed(diags, h);
        ok = false;
    }
    erltrace_close(h);
    c->functions = c->list[LISTS_FUNCTIONS].n;
    c->modules = c->list[LISTS_MODULES].n;
    ok = ok && add_kernel(c, config) && finish(c);
    hash_free(&c->known);
    buf_free(&c->key);
    if (ok)
        return c;
    lists_free(c);
    return NULL;
}

void lists_free(struct lists *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < LISTS_KINDS; i++)
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

/* Writes the group that a question is about. Of the kernel's functions that is their provider. */
static void group_asked(enum lists_what what, const char *provider, const char *module,
                        struct buf *out)
{
    const bool any = what == LISTS_PROVIDERS || (what == LISTS_PROBES && provider[0] == '\0');
    size_t n = strcspn(provider, "*?[$");
    while (n > 1 && isdigit((unsigned char)provider[n - 1]))
        n--;
    const bool of_node = n == 0 || (n == 6 && memcmp(provider, "erlang", n) == 0);
    if (any)
        return;
    buf_printf(out, "%.*s:%s", of_node ? 6 : (int)n, of_node ? "erlang" : provider,
               what == LISTS_FUNCTIONS && of_node ? module : "");
}

void lists_list(const struct lists *c, enum lists_what what, const char *provider,
                const char *module, const char *prefix, size_t limit, struct buf *out)
{
    const struct list *l = &c->list[what];
    struct buf group = BUF_INIT;
    group_asked(what, provider, module, &group);
    const struct item from = {buf_str(&group), prefix, NULL, false};
    size_t n = 0, i = first_of(l, &from);
    bool more = false;
    buf_adds(out, "{\"items\":[");
    for (; i < l->n && strcmp(l->item[i].group, from.group) == 0 &&
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
    out->oom |= group.oom;
    buf_free(&group);
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
    bool ok = h != NULL && (c->names != NULL ? erltrace_target_names(h, c->names)
                            : config->kernel ? erltrace_target_host(h)
                                             : erltrace_target_local(h)) == 0;
    if (ok && c->names != NULL && c->process > 0)
        ok = erltrace_set_process(h, c->process) == 0;
    ok = ok && run_compile(h, m, diags);
    if (ok)
        ok = erltrace_enable(h) == 0;
    if (h != NULL && !ok)
        diag_list_failed(diags, h);
    buf_adds(out, "\"matches\":[");
    if (h != NULL)
        erltrace_match_iter(h, on_match, out);
    buf_addc(out, ']');
    json_safe_int_field(out, "functions", (int64_t)c->functions);
    json_safe_int_field(out, "modules", (int64_t)c->modules);
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
