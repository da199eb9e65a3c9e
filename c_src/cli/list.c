/* list.c - reports on programs and probes: lists of probes, matches, stability (language.md 11.2,
 * 11.3), and what was set. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/elixir.h"
#include "cli/run.h"
#include "util/buftext.h"
#include "util/json.h"

static void put_buf(struct run *r, struct buf *b)
{
    screen_data(&r->screen, buf_str(b), b->len);
    buf_free(b);
}

/* Returns whether a function's arity, "/2", starts here and not a predicate. */
static bool is_arity(const char *slash)
{
    static const char blanks[] = " \t\n";
    size_t digits = strspn(slash + 1, "0123456789");
    const char *behind = slash + 1 + digits + strspn(slash + 1 + digits, blanks);
    if (digits > 0 && *behind == '/') { /* "f/1/ {" is a predicate; in "f/1 /x/ {" one follows */
        behind += 1 + strspn(behind + 1, blanks);
        return strchr("{;", *behind) == NULL;
    }
    return digits > 0 && strchr(":,{", *behind) != NULL; /* or the end of the text */
}

/* Returns the bytes of a program text that name it: up to its first predicate, clause or
 * semicolon. */
static int description_length(const char *text)
{
    size_t n = strcspn(text, "{/;");
    while (text[n] == '/' && is_arity(text + n))
        n += 1 + strcspn(text + n + 1, "{/;");
    return (int)n;
}

/* Returns the bytes before a description that is not on the first line of its text. */
static size_t blank_lines(const char *text)
{
    size_t n = strspn(text, " \t\n");
    return memchr(text, '\n', n) != NULL ? n : 0;
}

void tell_matched(struct run *r)
{
    for (size_t i = 0; i < r->a->nprograms; i++) {
        const struct args_program *p = &r->a->program[i];
        uint64_t n = erltrace_program_info(r->h, r->program[i])->matches;
        const char *s = n == 1 ? "" : "s", *text = p->text + blank_lines(p->text);
        if (p->spec == ERLTRACE_SPEC_SCRIPT)
            screen_message(&r->screen, "script '%s' matched %" PRIu64 " probe%s", p->text, n, s);
        else
            screen_message(&r->screen, "description '%.*s' matched %" PRIu64 " probe%s",
                           description_length(text), text, n, s);
    }
}

/* -- stability --------------------------------------------------------------------------------- */

static void put_attributes(struct buf *b, const char *title, const struct erltrace_attributes *a)
{
    buf_printf(b,
               "\n\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n"
               "\t\tDependency Class: %s\n",
               title, a->name, a->data, a->dependency);
}

void tell_stability(struct run *r)
{
    for (size_t i = 0; i < r->a->nprograms; i++) {
        const struct args_program *p = &r->a->program[i];
        const struct erltrace_proginfo *info = erltrace_program_info(r->h, r->program[i]);
        struct buf b = BUF_INIT;
        if (p->spec == ERLTRACE_SPEC_SCRIPT)
            buf_printf(&b, "\nStability attributes for script %s:\n", p->text);
        else
            buf_printf(&b, "\nStability attributes for description %.*s:\n",
                       description_length(p->text), p->text);
        put_attributes(&b, "Minimum Probe Description Attributes", info->descriptions);
        put_attributes(&b, "Minimum Statement Attributes", info->statements);
        buf_addc(&b, '\n');
        put_buf(r, &b);
    }
}

/* -- what was set ------------------------------------------------------------------------------ */

static void put_words(struct buf *b, const char *words)
{
    buf_addc(b, '[');
    for (const char *w = words; *w != '\0';) {
        size_t n = strcspn(w, " ");
        if (w > words)
            buf_addc(b, ',');
        buf_json(b, w, n);
        w += n + strspn(w + n, " ");
    }
    buf_addc(b, ']');
}

static void put_flags(struct buf *b, const char *names, uint64_t processes, const char *later)
{
    if (names[0] == '\0')
        return;
    buf_adds(b, "{\"names\":");
    put_words(b, names);
    buf_printf(b, ",\"processes\":%" PRIu64 ",\"new_processes\":%s}", processes, later);
}

static void put_placed(struct buf *b, const struct erltrace_placed *p)
{
    buf_adds(b, "{\"type\":\"enabled\"");
    json_text_field(b, "node", p->node);
    buf_printf(b,
               ",\"clauses\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"functions\":{\"meta\":%" PRIu64
               ",\"local\":%" PRIu64 ",\"global\":%" PRIu64 ",\"counted\":%" PRIu64
               "},\"filtered\":%" PRIu64 ",\"flags\":[",
               p->clauses, p->left_out, p->meta, p->local, p->global, p->counted, p->filtered);
    put_flags(b, p->flags, p->processes, "true");
    if (p->flags[0] != '\0' && p->only_flags[0] != '\0')
        buf_addc(b, ',');
    put_flags(b, p->only_flags, p->only_processes, "false");
    buf_printf(b, "],\"ports\":%" PRIu64 ",\"monitors\":", p->ports);
    put_words(b, p->monitors);
    buf_printf(b, ",\"clocks\":");
    put_words(b, p->clocks);
    buf_printf(b, ",\"ns\":%" PRIu64 ",\"pattern_calls\":%" PRIu64 "}\n", p->ns, p->calls);
}

static void count_of(struct buf *b, uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        buf_printf(b, "%s%" PRIu64 " %s", b->len > 0 ? ", " : "", n, n == 1 ? one : many);
}

static void say_flags(struct buf *b, const char *names, uint64_t processes, const char *later)
{
    if (names[0] != '\0')
        buf_printf(b, "%sflags %s on %" PRIu64 " process%s%s", b->len > 0 ? ", " : "", names,
                   processes, processes == 1 ? "" : "es", later);
}

static void say_placed(struct run *r, const struct erltrace_placed *p)
{
    struct buf b = BUF_INIT;
    const char *on = p->node[0] != '\0' ? " on " : "", *plural = p->left_out == 1 ? "" : "s";
    count_of(&b, p->meta, "function by a meta pattern", "functions by meta patterns");
    count_of(&b, p->local, "function by a local pattern", "functions by local patterns");
    count_of(&b, p->global, "function by a global pattern", "functions by global patterns");
    count_of(&b, p->counted, "function counted by the VM", "functions counted by the VM");
    say_flags(&b, p->flags, p->processes, " and new ones");
    say_flags(&b, p->only_flags, p->only_processes, "");
    count_of(&b, p->ports, "port", "ports");
    if (p->monitors[0] != '\0')
        buf_printf(&b, "%smonitoring of %s", b.len > 0 ? ", " : "", p->monitors);
    if (p->clocks[0] != '\0')
        buf_printf(&b, "%ssamples by %s", b.len > 0 ? ", " : "", p->clocks);
    if (b.len > 0)
        screen_message(&r->screen, "set%s%s: %s; in %.1f ms", on, p->node, buf_str(&b),
                       (double)p->ns / 1e6);
    else if (p->node[0] != '\0')
        screen_message(&r->screen, "set on %s: nothing", p->node);
    if (p->filtered > 0)
        screen_message(&r->screen,
                       "filtered in the VM: %" PRIu64
                       " of these functions, by what predicates ask of the arguments of a call",
                       p->filtered);
    for (const char *s = p->filters; *s != '\0'; s += *s == '\n') {
        const int n = (int)strcspn(s, "\n");
        screen_message(&r->screen, "  %.*s", n, s);
        s += n;
    }
    if (p->left_out > 0)
        screen_message(&r->screen,
                       "%" PRIu64 " clause%s of %" PRIu64
                       " left out where the predicate can never be true",
                       p->left_out, plural, p->left_out + p->clauses);
    buf_free(&b);
}

static int placed(const struct erltrace_placed *p, void *arg)
{
    struct run *r = arg;
    struct buf b = BUF_INIT;
    if (!r->a->json) {
        say_placed(r, p);
        return 0;
    }
    put_placed(&b, p);
    put_buf(r, &b);
    return 0;
}

void tell_placed(struct run *r)
{
    erltrace_placed_iter(r->h, placed, r);
}

static void put_clock(struct buf *b, const struct erltrace_clock *c)
{
    buf_adds(b, "{\"type\":\"clock\"");
    json_text_field(b, "node", c->node);
    if (c->known)
        buf_printf(b, ",\"offset\":%" PRId64 ",\"error\":%" PRIu64, c->offset, c->error);
    else
        buf_adds(b, ",\"offset\":null,\"error\":null");
    if (c->wall_known)
        buf_printf(b, ",\"wall_offset\":%" PRId64 ",\"wall_error\":%" PRIu64 "}\n", c->wall_offset,
                   c->wall_error);
    else
        buf_adds(b, ",\"wall_offset\":null,\"wall_error\":null}\n");
}

static int clock_of(const struct erltrace_clock *c, void *arg)
{
    struct run *r = arg;
    struct buf b = BUF_INIT;
    if (!r->a->json) {
        screen_message(&r->screen, "clock of %s: %s", c->node, c->text);
        return 0;
    }
    put_clock(&b, c);
    put_buf(r, &b);
    return 0;
}

void tell_clocks(struct run *r)
{
    erltrace_clock_iter(r->h, clock_of, r);
}

/* -- probes ------------------------------------------------------------------------------------ */

/* Writes "OTP 25, 27: vm tier": releases with the same support share a line. */
static void put_delivery(struct buf *b, const struct erltrace_about *a)
{
    for (size_t i = 0; i < a->notps; i++) {
        bool more = i > 0 && strcmp(a->by[i], a->by[i - 1]) == 0;
        bool last = i + 1 == a->notps || strcmp(a->by[i], a->by[i + 1]) != 0;
        buf_printf(b, more ? ", %d" : "\t\tOTP %d", a->otp[i]);
        if (last)
            buf_printf(b, ": %s\n", a->by[i]);
    }
    if (a->lacking != NULL)
        buf_printf(b, "\t\t(%s)\n", a->lacking);
}

static void put_about(struct buf *b, const struct erltrace_about *a)
{
    buf_printf(b, "\n\tWhen\n\t\t%s\n\tArguments\n", a->text);
    if (a->nargs == 0)
        buf_adds(b, "\t\tNone\n");
    for (size_t i = 0; i < a->nargs; i++) {
        const struct erltrace_about_arg *g = &a->arg[i];
        buf_printf(b, "\t\targ%zu: %s%s%s%s%s\n", i, g->type,
                   g->type[strlen(g->type) - 1] == '*' ? "" : " ", g->name,
                   g->text[0] != '\0' ? ": " : "", g->text);
    }
    buf_printf(b, "\tOrigin\n\t\t%s\n", a->origin);
    if (a->quality[0] != '\0')
        buf_printf(b, "\tQuality\n\t\t%s\n", a->quality);
    if (a->notps > 0)
        buf_adds(b, "\tDelivered By\n");
    put_delivery(b, a);
}

/* Rows of the provider's table that were shown as probes, by the address of their text. */
struct shown {
    const char *text[512];
    size_t n;
};

struct listing {
    struct run *r;
    struct shown shown;
    bool header; /* still to be printed */
};

/* The header comes with the first row, so that none stands above an error. */
static void put_header(struct listing *l)
{
    struct buf b = BUF_INIT;
    if (!l->header)
        return;
    l->header = false;
    buf_printf(&b, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
    put_buf(l->r, &b);
}

static bool is_shown(const struct shown *s, const struct erltrace_about *a)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->text[i] == a->text)
            return true;
    return false;
}

static void note_shown(struct shown *s, const struct erltrace_about *a)
{
    if (s->n < sizeof s->text / sizeof *s->text && !is_shown(s, a))
        s->text[s->n++] = a->text;
}

/* Appends a name as it can be typed: in Erlang's quotes where it needs them, without its arity.
 * '?' ends a name of Elixir, and is a wildcard elsewhere. */
static void put_typed(struct buf *b, const char *s, bool elixir)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@.!-";
    const char *slash = strrchr(s, '/');
    size_t n =
        slash && slash > s && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1)
            ? (size_t)(slash - s)
            : strlen(s);
    size_t len = strspn(s, plain);
    if (n == 0 || len >= n || (elixir && len == n - 1 && len > 0 && s[len] == '?')) {
        buf_adds(b, s);
        return;
    }
    buf_addc(b, '\'');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\'' || s[i] == '\\')
            buf_addc(b, '\\');
        buf_addc(b, s[i]);
    }
    buf_printf(b, "'%s", s + n);
}

/* Returns a part of a description for a column of the list. */
static const char *shown_part(struct buf *shown, const char *s, bool elixir)
{
    struct buf typed = BUF_INIT;
    put_typed(&typed, s, elixir);
    const char *text = buf_shown(shown, buf_str(&typed));
    buf_free(&typed);
    return text;
}

static int list_probe(const struct erltrace_probe *p, void *arg)
{
    struct listing *l = arg;
    struct run *r = l->r;
    struct buf b = BUF_INIT;
    struct erltrace_about about;
    put_header(l);
    if (r->a->json) {
        buf_adds(&b, "{\"type\":\"probe\"");
        json_uint_field(&b, "id", p->id);
        json_text_field(&b, "provider", p->provider);
        json_text_field(&b, "module", p->module);
        json_text_field(&b, "function", p->function);
        json_text_field(&b, "name", p->name);
        json_text_field(&b, "node", p->node);
        buf_adds(&b, "}\n");
    } else {
        struct buf part[4] = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};
        const char *alias = run_option(r, "elixir") ? elixir_alias(p->module) : NULL;
        buf_printf(&b, "%5" PRIu32 " %10s %17s %33s %s\n", p->id, buf_shown(&part[0], p->provider),
                   shown_part(&part[1], alias ? alias : p->module, false),
                   shown_part(&part[2], p->function, alias != NULL), buf_shown(&part[3], p->name));
        for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
            buf_free(&part[i]);
        if (r->a->verbose) {
            put_attributes(&b, "Probe Description Attributes", p->attributes);
            put_attributes(&b, "Argument Attributes", p->arguments);
            buf_adds(&b, "\n\tArgument Types\n");
            if (p->nargs == 0)
                buf_adds(&b, "\t\tNone\n");
            for (size_t i = 0; i < p->nargs; i++)
                buf_printf(&b, "\t\targs[%zu]: %s\n", i, erltrace_probe_argument(p, i));
            if (erltrace_probe_about(p, &about) == 0) {
                put_about(&b, &about);
                note_shown(&l->shown, &about);
            }
            buf_addc(&b, '\n');
        }
    }
    put_buf(r, &b);
    return 0;
}

static int list_missed(const char *description, const char *why, void *arg)
{
    struct listing *l = arg;
    put_header(l);
    screen_message(&l->r->screen, "failed to match %s: %s", description, why);
    return 0;
}

/* Prints a row that no target has, with a dash for its id. */
static int list_about(const struct erltrace_about *a, void *arg)
{
    struct listing *l = arg;
    struct buf b = BUF_INIT;
    char name[128];
    if (is_shown(&l->shown, a))
        return 0;
    snprintf(name, sizeof name, a->numbered != 0 ? "%s0...%u" : "%s", a->name, a->numbered - 1);
    buf_printf(&b, "%5s %10s %17s %33s %s\n", "-", "erlang", a->module, a->function, name);
    put_about(&b, a);
    buf_addc(&b, '\n');
    put_buf(l->r, &b);
    return 0;
}

static int each(struct run *r, erltrace_missed_fn *missed, bool header)
{
    struct listing l = {.r = r, .header = header};
    if (erltrace_probe_iter(r->h, NULL, list_probe, missed, &l) != 0)
        return run_failed(r);
    put_header(&l);
    /* A verbose list of everything also shows what is missing here, and why. */
    if (r->a->nprograms == 0 && r->a->verbose && !r->a->json)
        erltrace_about_iter(list_about, &l);
    return EXIT_OK;
}

int list_each(struct run *r)
{
    return each(r, NULL, false);
}

int list_probes(struct run *r)
{
    return each(r, list_missed, !r->a->json);
}
