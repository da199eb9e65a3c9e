/* words.c - writes the names of D (guest/words/) and of probes for other languages than C.
 *
 *   words erlang        agent/erltrace_agent_words.hrl
 *   words typescript    ui/src/model/words.ts
 *
 * `make words` writes these files, which are committed; `make lint` refuses them when they are not
 * what this program prints. */
#include <stdio.h>
#include <string.h>

#include "probe/probe.h"
#include "words/words.h"

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
#define WORD_PROBE(num, name, by) {#name, #by, num},
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
    printf("%%%% Classes of functions.\n"
           "-define(CLASS_BIF, %d).\n"
           "-define(CLASS_NIF, %d).\n"
           "-define(CLASS_INLINED, %d).\n"
           "-define(CLASS_PRIVATE, %d).\n",
           PROBE_FN_BIF, PROBE_FN_NIF, PROBE_FN_INLINED, PROBE_FN_PRIVATE);
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

/* Sets of tiers, as in the lists. */
enum { LOCAL = WORD_LOCAL, VM = WORD_VM, KERNEL = WORD_KERNEL, ALL = WORD_ALL };

static void put_typescript(void)
{
    puts("// words.ts - made by `make words`; edit guest/words/ instead.\n"
         "\n"
         "/** Kind, name, meaning, what is inserted after the name when it is completed, and whether "
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
#define WORD_ACTION(num, name, text, tiers, destr, pleast, pmost, rleast, rmost, d)                \
    PUT("function", text, tiers, WORD_##d);
#include "words/actions.list"
#define WORD_KIND(num, name, text, tiers, d) PUT("function", text, tiers, WORD_##d);
#include "words/kinds.list"
#define WORD_SUBR(num, name, args, result, min, max, tiers, d)                                     \
    PUT("function", #name, tiers, WORD_##d);
#include "words/subrs.list"
    puts(
        "];\n"
        "\n"
        "/** What an aggregating function shows for a key. */\n"
        "export type Result = \"count\" | \"number\" | \"average\" | \"deviation\" | \"buckets\";\n"
        "\n"
        "/** The aggregating functions; merge: how the numbers of two intervals are combined. */\n"
        "export const D_FUNCTIONS: Readonly<Record<string, { result: Result; merge: \"add\" | "
        "\"least\" | \"most\" }>> = {");
#define COUNT_       "count"
#define NUMBER_      "number"
#define AVERAGE_     "average"
#define DEVIATION_   "deviation"
#define BUCKETS_     "buckets"
#define ADD_         "add"
#define ADD_SQUARES_ "add"
#define LEAST_       "least"
#define MOST_        "most"
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    printf("    %s: { result: \"%s\", merge: \"%s\" },\n", text, result##_, merge##_);
#include "words/aggs.list"
#undef WORD_AGG
    puts("};\n"
         "\n"
         "/** Functions with buckets. */");
    const char *bar = "export type HistFn = ";
#define WORD_AGG(num, name, text, values, words, parameters, merge, result, d)                     \
    if (strcmp(result##_, "buckets") == 0) {                                                       \
        printf("%s\"%s\"", bar, text);                                                             \
        bar = " | ";                                                                               \
    }
#include "words/aggs.list"
#undef WORD_AGG
    puts(";");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "erlang") == 0)
        put_erlang();
    else if (argc == 2 && strcmp(argv[1], "typescript") == 0)
        put_typescript();
    else
        return fputs("usage: words erlang|typescript\n", stderr), 2;
    return 0;
}
