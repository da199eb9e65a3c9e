/* words.c - writes the names of D (guest/words/), of probes, and of options
 * (c_src/util/options.list) for other languages than C.
 *
 *   words erlang        guest/agent/erltrace_agent_words.hrl
 *   words typescript    ui/src/model/words.ts
 *   words doc FILE      a file of doc/, with the tables of options that are marked there
 *   words list          for scripts/dev/man, the names of D: a line each, with tabs between its
 *                       kind, name, where it exists or its default, and meaning
 *
 * `make words` writes the first three, which are committed; `make lint` refuses them when they are
 * not what this program prints. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/option.h"
#include "words/otp.h"
#include "words/probekind.h"
#include "words/tiers.h"

/* -- Erlang: the numbers of the agent's protocol -------------------------------------------------
 */

/* Words separated by blanks, as atoms. */
static void put_atoms(const char *words)
{
    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        printf("%s'%.*s'", p > words ? ", " : "", (int)n, p);
        p += n;
    }
}

/* The trace flags of the needs of a PROCESS or a PORT. */
static void put_flags(const char *macro, const char *of)
{
    static const struct {
        const char *name, *of, *flags;
    } needs[] = {
#define WORD_NEED(bit, name, of, flags, text) {#name, #of, flags},
#include "words/needs.list"
#undef WORD_NEED
    };
    const char *comma = "";
    printf("-define(%s, [", macro);
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (strcmp(needs[i].of, of) != 0)
            continue;
        printf("%s{?NEED_%s, [", comma, needs[i].name);
        put_atoms(needs[i].flags);
        printf("]}");
        comma = ", ";
    }
    printf("]).\n");
}

static void put_erlang(void)
{
    static const struct {
        const char *name, *by;
        unsigned number;
    } probes[] = {
#define WORD_PROBE(num, name, by, text, needs) {#name, #by, num},
#include "words/probes.list"
#undef WORD_PROBE
    };
    const char *comma = "";
    unsigned monitor = 0;
    puts("%% erltrace_agent_words.hrl - made by `make words`; edit guest/words/ instead.\n"
         "%%\n"
         "%% Kinds of probes.");
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++)
        printf("-define(PROBE_%s, %u).\n", probes[i].name, probes[i].number);
    printf("%%%% Probes that the server fires.\n"
           "-define(SERVER_PROBES, [");
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        if (strcmp(probes[i].by, "SERVER") == 0) {
            printf("%s%u", comma, probes[i].number);
            comma = ", ";
        }
    }
    puts("]).\n"
         "%% What a probe needs of the VM.");
#define SYSTEM_   true
#define PROCESS_  false
#define PORT_     false
#define FUNCTION_ false
#define OTHER_    false
#define WORD_NEED(bit, name, of, flags, text)                                                      \
    printf("-define(NEED_%s, %u).\n", #name, 1u << bit);                                           \
    monitor |= of##_ ? 1u << bit : 0;
#include "words/needs.list"
#undef WORD_NEED
    printf("%%%% All needs of the system monitor.\n"
           "-define(NEED_MONITOR, %u).\n"
           "%%%% The trace flags of each need.\n",
           monitor);
    put_flags("PROCESS_FLAGS", "PROCESS");
    put_flags("PORT_FLAGS", "PORT");
    puts("%% What OTP releases differ in, a bit for each; ?HAS asks for one in #s.has.");
    static const struct {
        const char *name, *text;
        int first, last;
    } otp[] = {
#define WORD_OTP(name, first, last, text) {#name, text, first, last},
#include "words/otp.list"
#undef WORD_OTP
    };
    enum { OTPS = sizeof otp / sizeof otp[0] };
    for (size_t i = 0; i < OTPS; i++)
        printf("-define(OTP_%s, %u). %% %s\n", otp[i].name, 1u << (i + 1), otp[i].text);
    puts("%% With the first release that has it, and the last; 0: none is known.");
    printf("-define(OTP_FEATURES, [");
    for (size_t i = 0; i < OTPS; i++)
        printf("%s{?OTP_%s, %d, %d}", i > 0 ? ", " : "", otp[i].name, otp[i].first, otp[i].last);
    puts("]).\n"
         "-define(HAS(Has, Feature), ((Has) band (Feature) =/= 0)).");
    printf("%%%% What clauses read at a probe of a function, in the Kind of a binding: enum "
           "probe_use.\n"
           "-define(USE_ARGS, %d).\n"
           "-define(USE_VALUE, %d).\n"
           "-define(USE_FOLLOW, %d).\n"
           "-define(USE_COUNT, %d).\n"
           "-define(USES, %d).\n"
           "%%%% Classes of functions.\n"
           "-define(CLASS_BIF, %d).\n"
           "-define(CLASS_NIF, %d).\n"
           "-define(CLASS_INLINED, %d).\n"
           "-define(CLASS_PRIVATE, %d).\n",
           PROBE_USE_ARGS, PROBE_USE_VALUE, PROBE_USE_FOLLOW, PROBE_USE_COUNT, PROBE_USES,
           PROBE_FN_BIF, PROBE_FN_NIF, PROBE_FN_INLINED, PROBE_FN_PRIVATE);
}

/* -- options ----------------------------------------------------------------------------------- */

/* The words of the option `format`. */
static const char formats[] =
#define FORMAT(name, flag, how, reporter) #name " "
#include "util/formats.list"
#undef FORMAT
    ;

static const struct option_doc {
    const char *name;
    enum option_type type;
    const char *standard, *least, *most, *words;
    enum option_by by;
    enum { PHASE_COMPILE, PHASE_RUN, PHASE_KERNEL } phase;
    const char *text, *more;
} options[] = {
#define OPTION(name, type, standard, least, most, words, by, phase, to, key, when, text, more)     \
    {#name, OPTION_TYPE_##type, standard,      least, most,                                        \
     words, OPTION_BY_##by,     PHASE_##phase, text,  more},
#include "util/options.list"
#undef OPTION
};
enum { NOPTIONS = sizeof options / sizeof options[0] };

/* "size, 2 to 1m" */
static void put_bounds(const struct option_doc *o, const char *what)
{
    fputs(what, stdout);
    if (o->least != NULL && o->most != NULL)
        printf(", %s to %s", o->least, o->most);
    else if (o->most != NULL)
        printf(" up to %s", o->most);
    else if (o->least != NULL)
        printf(", %s or more", o->least);
}

/* How the value is written. */
static void put_value(const struct option_doc *o)
{
    const char *comma = "";
    switch (o->type) {
    case OPTION_TYPE_FLAG: fputs("flag", stdout); break;
    case OPTION_TYPE_PRESENT:
    case OPTION_TYPE_CPP_FLAG: fputs("none", stdout); break;
    case OPTION_TYPE_SIZE:
    case OPTION_TYPE_BUDGET:
    case OPTION_TYPE_PACKET: put_bounds(o, "size"); break;
    case OPTION_TYPE_PRINT: put_bounds(o, "none, or size"); break;
    case OPTION_TYPE_MEMORY: fputs("size, or `unlimited`", stdout); break;
    case OPTION_TYPE_NUMBER: put_bounds(o, "number"); break;
    case OPTION_TYPE_RATE: put_bounds(o, "rate"); break;
    case OPTION_TYPE_PERCENT: printf("1 to %s, or `off`", o->most); break;
    case OPTION_TYPE_STATS: printf("none, rate of at least %s, or `end`", o->least); break;
    case OPTION_TYPE_WORD:
    case OPTION_TYPE_ERRFORM:
        for (const char *w = o->words; *w != '\0'; comma = ", ") {
            size_t n = strcspn(w, " ");
            printf("%s`%.*s`", comma, (int)n, w);
            w += n + strspn(w + n, " ");
        }
        break;
    case OPTION_TYPE_STABILITY: fputs("`N/D/C`", stdout); break;
    case OPTION_TYPE_VERSION: fputs("`M.m[.u]`", stdout); break;
    case OPTION_TYPE_PATTERNS: fputs("globs", stdout); break;
    case OPTION_TYPE_PATH:
    case OPTION_TYPE_FOLDER: fputs("path", stdout); break;
    case OPTION_TYPE_CPP: fputs("text", stdout); break;
    case OPTION_TYPE_IGNORED:
    case OPTION_TYPE_REFUSED: fputs("any", stdout); break;
    }
}

/* A link from the file to `more`, which is relative to doc/. A section of the manual is called by
 * its number, of which the last digit is the second part. */
static void put_link(const char *more, const char *file)
{
    size_t n = strcspn(more, "#"), digits = strspn(more + n + (more[n] == '#'), "0123456789");
    bool here = strncmp(more, file, n) == 0 && file[n] == '\0';
    const char *section = more + n + 1;
    printf("; see [%.*s%s", here ? 0 : (int)n, more, here || digits < 2 ? "" : " ");
    if (digits >= 2)
        printf("%.*s.%c", (int)digits - 1, section, section[digits - 1]);
    else if (here)
        fputs("below", stdout);
    printf("](%s)", here ? more + n : more);
}

static void put_option(const struct option_doc *o, bool marked, const char *file)
{
    printf("| `%s`%s | ", o->name, marked && o->by == OPTION_BY_RUNNING ? "*" : "");
    put_value(o);
    printf(" |%s%s | %s%s", *option_default(o->type, o->standard) != '\0' ? " " : "",
           option_default(o->type, o->standard), o->type == OPTION_TYPE_REFUSED ? "refused: " : "",
           o->text);
    if (o->by == OPTION_BY_COMMAND)
        fputs("; not in a program", stdout);
    if (o->more != NULL)
        put_link(o->more, file);
    puts(" |");
}

/* The table of all options, or of those that are about compiling, or not. */
static void put_options(bool all, bool compiling, const char *file)
{
    const char *blank = "| `";
    puts("| option | value | default | effect |\n|---|---|---|---|");
    for (size_t i = 0; i < NOPTIONS; i++)
        if (options[i].type != OPTION_TYPE_IGNORED &&
            (all || (options[i].phase == PHASE_COMPILE) == compiling))
            put_option(&options[i], all, file);
    if (!all && compiling)
        return;
    for (size_t i = 0; i < NOPTIONS; i++) {
        if (options[i].type == OPTION_TYPE_IGNORED) {
            printf("%s%s", blank, options[i].name);
            blank = " ";
        }
    }
    puts("` | any | | accepted, but without effect |");
}

/* The names of those that setopt() can change. */
static void put_changeable(void)
{
    enum { WIDTH = 130 };
    size_t column = 0;
    for (size_t i = 0, last = 0; i < NOPTIONS; i++) {
        if (options[i].by != OPTION_BY_RUNNING)
            continue;
        size_t n = strlen(options[i].name) + 3;
        if (last++ > 0)
            fputs(column + n > WIDTH ? (column = 0, ",\n") : ", ", stdout);
        printf("`%s`", options[i].name);
        column += n + 1;
    }
    putchar('\n');
}

#define MADE "<!-- made by `make words`: "
static const char made_end[] = "<!-- end -->\n";

/* Prints a document, with what is between the marks made anew. */
static int put_doc(const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
    char line[65536];
    bool ours = false;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return perror(path), 1;
    while (fgets(line, sizeof line, f) != NULL) {
        if (strcmp(line, made_end) == 0)
            ours = false;
        if (!ours)
            fputs(line, stdout);
        if (strncmp(line, MADE, sizeof MADE - 1) != 0)
            continue;
        const char *what = line + sizeof MADE - 1;
        ours = true;
        if (strcmp(what, "options -->\n") == 0)
            put_options(true, false, file);
        else if (strcmp(what, "run-time options -->\n") == 0)
            put_options(false, false, file);
        else if (strcmp(what, "compile-time options -->\n") == 0)
            put_options(false, true, file);
        else if (strcmp(what, "options of setopt -->\n") == 0)
            put_changeable();
        else
            return fprintf(stderr, "%s: nothing is called %s", path, what), 1;
    }
    fclose(f);
    return ours ? fprintf(stderr, "%s: %s is missing", path, made_end), 1 : 0;
}

/* -- TypeScript: what the editor colours and completes -------------------------------------------
 */

static void put_quoted(const char *s)
{
    putchar('"');
    for (; *s; s++)
        printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    putchar('"');
}

static void put_word(const char *kind, const char *name, unsigned tiers, const char *text,
                     const char *call)
{
    printf("    [\"%s\", \"%s\", ", kind, name);
    put_quoted(text);
    printf(", \"%s\", %s],\n", call, tiers & WORD_VM ? "true" : "false");
}

/* usage: "strlen(string)"; NULL: it is not in D. */
static void put_function(const char *kind, const char *name, unsigned tiers, const char *usage,
                         const char *text)
{
    if (usage)
        put_word(kind, name, tiers, text, strstr(usage, "()") ? "()" : "(");
}

/* A text without its Markdown. */
static void put_plain(const char *s)
{
    putchar('"');
    for (; *s; s++)
        if (*s != '`')
            printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    putchar('"');
}

/* An option as the page completes it: with its default, or with the place of a value; and its
 * bounds, for a field. */
static void put_completion(const struct option_doc *o)
{
    static const char *const types[] = {
        [OPTION_TYPE_FLAG] = "flag",    [OPTION_TYPE_PRESENT] = "present",
        [OPTION_TYPE_SIZE] = "size",    [OPTION_TYPE_BUDGET] = "size",
        [OPTION_TYPE_PRINT] = "size",   [OPTION_TYPE_NUMBER] = "number",
        [OPTION_TYPE_RATE] = "rate",    [OPTION_TYPE_PERCENT] = "percent",
        [OPTION_TYPE_WORD] = "word",    [OPTION_TYPE_STATS] = "rate",
        [OPTION_TYPE_ERRFORM] = "word", [OPTION_TYPE_STABILITY] = "text",
        [OPTION_TYPE_VERSION] = "text", [OPTION_TYPE_CPP_FLAG] = "present"};
    bool alone = o->type == OPTION_TYPE_PRESENT || o->type == OPTION_TYPE_FLAG;
    if (o->by == OPTION_BY_COMMAND || o->type >= OPTION_TYPE_IGNORED || o->phase == PHASE_KERNEL)
        return;
    printf("    [\"%s", o->name);
    if (o->standard != NULL && strcmp(option_default(o->type, o->standard), "on") != 0)
        printf("=%s", o->standard);
    else if (!alone)
        putchar('=');
    printf("\", ");
    put_plain(o->text);
    printf(", \"%s\", \"%s\", \"%s\"],\n", types[o->type], o->least != NULL ? o->least : "",
           o->most != NULL ? o->most : "");
}

static const char *const merges[] = {
#define WORD_MERGE(name, first, others, text) [WORD_##name] = text,
#include "words/aggs.list"
#undef WORD_AGG
};
static const char *const results[] = {
#define WORD_RESULT(name, text) [WORD_##name] = text,
#include "words/aggs.list"
#undef WORD_AGG
};

/* A type of these texts, each once. */
static void put_union(const char *const *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (strcmp(text[k], text[i]) != 0)
            k++;
        if (k == i)
            printf("%s\"%s\"", i > 0 ? " | " : "", text[i]);
    }
}

static void put_typescript(void)
{
    puts("// words.ts - made by `make words`; edit guest/words/ instead.\n"
         "\n"
         "/** Kind, name, meaning, what is inserted after the name when it is completed, and "
         "whether "
         "nodes have it. */\n"
         "export const D_WORDS: [\"aggregation\" | \"variable\" | \"function\", string, string, "
         "string, boolean][] = [");
#define WORD_D(letters, least, most, flag, type, since, usage, text) usage, text
#define WORD_NOT_D                                                   NULL, NULL
#define PUT(kind, name, tiers, ...)                                  put_function(kind, name, tiers, __VA_ARGS__)
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    PUT("aggregation", text, ALL, WORD_##d);
#include "words/aggs.list"
#undef WORD_AGG
#define WORD_BUILTIN(num, name, shape, type, tiers, since, text)                                   \
    if (#name[0] != '_')                                                                           \
        put_word("variable", #name, tiers, text, "");
#include "words/builtins.list"
#undef WORD_BUILTIN
#define WORD_ACTION(num, name, text, tiers, destr, pleast, pmost, rleast, rmost, d)                \
    PUT("function", text, tiers, WORD_##d);
#include "words/actions.list"
#undef WORD_ACTION
#define WORD_KIND(num, name, text, tiers, d) PUT("function", text, tiers, WORD_##d);
#include "words/kinds.list"
#undef WORD_KIND
#define WORD_SUBR(num, name, args, result, min, max, tiers, d)                                     \
    PUT("function", #name, tiers, WORD_##d);
#include "words/subrs.list"
#undef WORD_SUBR
    puts("];\n"
         "\n"
         "/** What an aggregating function shows for a key. */");
    printf("export type Result = ");
    put_union(results, sizeof results / sizeof results[0]);
    puts(";\n"
         "\n"
         "/** The aggregating functions; merge: how the numbers of two intervals are combined. */");
    printf("export const D_FUNCTIONS: Readonly<Record<string, { result: Result; merge: ");
    put_union(merges, sizeof merges / sizeof merges[0]);
    puts(" }>> = {");
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    printf("    %s: { result: \"%s\", merge: \"%s\" },\n", text, results[WORD_##result],           \
           merges[WORD_##merge]);
#include "words/aggs.list"
#undef WORD_AGG
    puts("};\n"
         "\n"
         "/** The options that a program can set: how its text begins, what it means, the type of "
         "its "
         "value, its least and most (\"\": none). */\n"
         "export const D_OPTIONS: [string, string, string, string, string][] = [");
    for (size_t i = 0; i < NOPTIONS; i++)
        put_completion(&options[i]);
    puts("];\n"
         "\n"
         "/** Functions with buckets. */");
    const char *bar = "export type HistFn = ";
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    if (WORD_##result == WORD_BUCKETS) {                                                           \
        printf("%s\"%s\"", bar, text);                                                             \
        bar = " | ";                                                                               \
    }
#include "words/aggs.list"
#undef WORD_AGG
    puts(";");
}

/* -- lines, for the manual pages ----------------------------------------------------------------
 */

static void put_line(const char *kind, const char *name, const char *more, const char *text)
{
    printf("%s\t%s\t%s\t", kind, name, more);
    for (; *text != '\0'; text++)
        if (*text != '`')
            putchar(*text);
    putchar('\n');
}

/* Where something exists, unless that is everywhere. */
static const char *places(unsigned tiers)
{
    return tiers == KERNEL      ? "in the kernel"
           : tiers == VM        ? "in nodes"
           : tiers == VM_KERNEL ? "in nodes and in the kernel"
                                : "";
}

/* usage: "strlen(string)"; NULL: it is not in D. */
static void put_usage(const char *kind, unsigned tiers, const char *usage, const char *text)
{
    if (usage != NULL)
        put_line(kind, usage, places(tiers), text);
}

static void put_list(void)
{
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    PUT_USAGE("aggregation", ALL, WORD_##d);
#define PUT_USAGE(kind, tiers, ...) put_usage(kind, tiers, __VA_ARGS__)
#include "words/aggs.list"
#undef WORD_AGG
#define WORD_ACTION(num, name, text, tiers, destr, pleast, pmost, rleast, rmost, d)                \
    PUT_USAGE(destr ? "destructive" : "action", tiers, WORD_##d);
#include "words/actions.list"
#undef WORD_ACTION
#define WORD_KIND(num, name, text, tiers, d) PUT_USAGE("action", tiers, WORD_##d);
#include "words/kinds.list"
#undef WORD_KIND
#define WORD_SUBR(num, name, args, result, min, max, tiers, d)                                     \
    PUT_USAGE("subroutine", tiers, WORD_##d);
#include "words/subrs.list"
#undef WORD_SUBR
#define WORD_BUILTIN(num, name, shape, type, tiers, since, text)                                   \
    if (#name[0] != '_')                                                                           \
        put_line("variable", type " " #name, places(tiers), text);
#include "words/builtins.list"
#undef WORD_BUILTIN
#define WORD_DROP(num, name, noun, rest)                                                           \
    put_line("drop", "DTRACEDROP_" #name, "", "N " noun "s" rest);
#include "words/drops.list"
#undef WORD_DROP
#define WORD_FAULT(num, name, value, text) put_line("fault", "DTRACEFLT_" #name, "", text);
#include "words/faults.list"
#undef WORD_FAULT
    for (size_t i = 0; i < NOPTIONS; i++)
        if (options[i].type < OPTION_TYPE_IGNORED)
            put_line("option", options[i].name,
                     option_default(options[i].type, options[i].standard), options[i].text);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "erlang") == 0)
        put_erlang();
    else if (argc == 2 && strcmp(argv[1], "typescript") == 0)
        put_typescript();
    else if (argc == 2 && strcmp(argv[1], "list") == 0)
        put_list();
    else if (argc == 3 && strcmp(argv[1], "doc") == 0)
        return put_doc(argv[2]);
    else
        return fputs("usage: words erlang|typescript|doc FILE|list\n", stderr), 2;
    return 0;
}
