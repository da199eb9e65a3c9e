/* doc/probes.md is made from the provider's tables, and says what they say today.
 *
 * With the argument --write this program makes the file (`make doc`); without, it is a test that
 * fails when the file is old. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/probe.h"
#include "util/buftext.h"

static const char head[] =
    "# Probes of the provider erlang\n"
    "\n"
    "<!-- Made by `make doc` from c_src/probe/*.list: what is changed here is lost. -->\n"
    "\n"
    "A probe is named `erlang*:::NAME` (or `erlangPID:::NAME` for one node), a probe of a "
    "function\n"
    "`erlang*:MODULE:FUNCTION:NAME`. `erltrace -l -v` shows the same of each probe. Arguments are "
    "arg0, arg1 and so on in\n"
    "this order; `args[0]` is typed, with `char *` as a `string`. `self->` and `vtimestamp` belong "
    "to the process that a probe's\n"
    "arg0 names.\n"
    "\n"
    "`BEGIN`, `END`, `ERROR`, `tick-N`, `profile-N` and `wall-N` belong to other providers "
    "([language.md](language.md#102-begin-end-error-tick-profile-and-wall));\n"
    "what a profile by `profile-N` shows is in [profile.md](profile.md).\n"
    "\n"
    "**Quality** is *exact* where the values are those that OTP's own provider would give; "
    "otherwise it says what of it is\n"
    "derived, and how. Where an argument cannot be known, its text says what number stands there: "
    "`printf()` and `--json` show\n"
    "it as it is, comparisons see it, and aggregating functions leave it out. **Needs** is what is "
    "switched on in\n"
    "the VM while such a probe is enabled.\n"
    "\n"
    "The last columns are releases of OTP: 25 stands for 26, too, 27 for 28, 29 for what is later. "
    "*yes*: delivered in the\n"
    "node, on an OTP as it is. *kernel*: not by this erltrace; a kernel tier could, on an OTP "
    "built with dynamic tracing. *no*:\n"
    "not possible, for the reason given with the quality. Probes marked *ours* are not OTP's; "
    "probes marked *past* were once.\n";

/* Text as Markdown shows it unchanged, inside a table. */
static void put_text(struct buf *b, const char *s)
{
    for (; *s != '\0'; s++) {
        if (*s == '<')
            buf_adds(b, "&lt;");
        else if (*s == '>')
            buf_adds(b, "&gt;");
        else if (strchr("|*`", *s) != NULL)
            buf_printf(b, "\\%c", *s);
        else
            buf_addc(b, *s);
    }
}

/* The names of OTP's provider for a function's probe. */
static void put_aliases(struct buf *b, const struct probe_def *def)
{
    enum probe_kind kind;
    const char *name, *before = "<br>also called ";
    for (size_t i = 0; (name = probe_fn_alias(i, &kind)) != NULL; i++) {
        if (kind != def->kind || strcmp(name, def->name) == 0)
            continue;
        buf_printf(b, "%s%s", before, name);
        before = ", ";
    }
}

static void put_name(struct buf *b, const struct probe_def *def)
{
    static const char *const whose[] = {
        [PROBE_OTP] = "", [PROBE_OURS] = " *ours*", [PROBE_PAST] = " *past*"};
    buf_adds(b, "| **");
    if (def->mod != NULL)
        buf_printf(b, "%s:%s:", def->mod, def->func);
    buf_adds(b, def->name);
    if (def->numbered > 0)
        buf_printf(b, "0** to **%s%u", def->name, def->numbered - 1);
    buf_printf(b, "**%s", whose[def->origin]);
    if (def->kind >= PROBE_FN_ENTRY)
        put_aliases(b, def);
    buf_adds(b, " | ");
}

static void put_args(struct buf *b, const struct probe_def *def)
{
    for (size_t i = 0; i < sizeof def->arg / sizeof *def->arg && def->arg[i].type != NULL; i++) {
        buf_printf(b, "%s`%s%s%s` ", i > 0 ? "<br>" : "", def->arg[i].type,
                   strchr(def->arg[i].type, '*') != NULL ? "" : " ", def->arg[i].name);
        put_text(b, def->arg[i].text);
    }
    buf_adds(b, " | ");
}

static void put_quality(struct buf *b, const struct probe_def *def)
{
    if (def->how != NULL)
        put_text(b, def->how);
    else if (def->kind != 0)
        buf_adds(b, "exact");
    if (def->lacking != NULL && (def->how != NULL || def->kind != 0))
        buf_adds(b, "<br>");
    if (def->lacking != NULL)
        put_text(b, def->lacking);
    buf_adds(b, " | ");
}

static void put_needs(struct buf *b, const struct probe_def *def)
{
    const char *before = "";
    for (unsigned bit = 0; bit < 32; bit++) {
        if ((def->needs & 1u << bit) == 0)
            continue;
        buf_printf(b, "%s%s", before, probe_need_text((enum probe_need)(1u << bit)));
        before = "; ";
    }
    buf_adds(b, " |");
}

static void put_row(struct buf *b, const struct probe_def *def)
{
    static const char *const by[] = {
        [PROBE_BY_VM] = "yes", [PROBE_BY_KERNEL] = "kernel", [PROBE_BY_NONE] = "no"};
    put_name(b, def);
    put_text(b, def->text);
    buf_adds(b, " | ");
    put_args(b, def);
    put_quality(b, def);
    put_needs(b, def);
    for (size_t i = 0; i < PROBE_OTPS; i++)
        buf_printf(b, " %s |", by[probe_on(def, probe_otps[i])]);
    buf_addc(b, '\n');
}

static void put_document(struct buf *b)
{
    const struct probe_section *s;
    buf_adds(b, head);
    for (size_t i = 0; (s = probe_section(i)) != NULL; i++) {
        buf_printf(b, "\n## %s\n\n", s->title);
        buf_adds(b, "| probe | fires when | arguments | quality | needs | 25 | 27 | 29 |\n"
                    "|---|---|---|---|---|---|---|---|\n");
        for (size_t j = 0; j < s->n; j++)
            put_row(b, &s->def[j]);
    }
}

static FILE *document(const char *mode)
{
    char path[4096];
    const char *root = getenv("ERLTRACE_ROOT");
    snprintf(path, sizeof path, "%s/doc/probes.md", root != NULL ? root : ".");
    return fopen(path, mode);
}

static void the_document_is_current(void **state)
{
    (void)state;
    struct buf want = BUF_INIT, have = BUF_INIT;
    FILE *f = document("r");
    int c;
    put_document(&want);
    while (f != NULL && (c = getc(f)) != EOF)
        buf_addc(&have, (char)c);
    if (f != NULL)
        fclose(f);
    if (strcmp(buf_str(&want), buf_str(&have)) != 0)
        fail_msg("doc/probes.md is not what the tables say: run `make doc`");
    buf_free(&want);
    buf_free(&have);
}

/* Each probe of OTP's own provider is a row, or another name of a function's probe. */
static void every_probe_of_otp_is_there(void **state)
{
    (void)state;
    static const char *const names[] = {"message-send",
                                        "message-send-remote",
                                        "message-queued",
                                        "message-receive",
                                        "copy-struct",
                                        "copy-object",
                                        "local-function-entry",
                                        "global-function-entry",
                                        "function-return",
                                        "bif-entry",
                                        "bif-return",
                                        "nif-entry",
                                        "nif-return",
                                        "process-spawn",
                                        "process-exit",
                                        "process-exit_signal",
                                        "process-exit_signal-remote",
                                        "process-scheduled",
                                        "process-unscheduled",
                                        "process-hibernate",
                                        "process-port_unblocked",
                                        "process-heap_grow",
                                        "process-heap_shrink",
                                        "gc_major-start",
                                        "gc_minor-start",
                                        "gc_major-end",
                                        "gc_minor-end",
                                        "dist-monitor",
                                        "dist-port_busy",
                                        "dist-port_not_busy",
                                        "dist-output",
                                        "dist-outputv",
                                        "port-open",
                                        "port-command",
                                        "port-control",
                                        "port-exit",
                                        "port-connect",
                                        "port-busy",
                                        "port-not_busy",
                                        "driver-init",
                                        "driver-start",
                                        "driver-stop",
                                        "driver-finish",
                                        "driver-flush",
                                        "driver-output",
                                        "driver-outputv",
                                        "driver-control",
                                        "driver-call",
                                        "driver-event",
                                        "driver-ready_input",
                                        "driver-ready_output",
                                        "driver-timeout",
                                        "driver-ready_async",
                                        "driver-process_exit",
                                        "driver-stop_select",
                                        "trace",
                                        "trace_seq",
                                        "user_trace-s1",
                                        "user_trace-i4s4",
                                        "user_trace-n0",
                                        "user_trace-n950"};
    assert_int_equal(sizeof names / sizeof *names, 59 + 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (probe_fn_match(names[i]) == 0 && probe_erlang_name(names[i]) == NULL)
            fail_msg("%s is in no table", names[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_is_current),
        cmocka_unit_test(every_probe_of_otp_is_there),
    };
    if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        struct buf b = BUF_INIT;
        FILE *f = document("w");
        put_document(&b);
        bool ok = f != NULL && fwrite(buf_str(&b), 1, b.len, f) == b.len;
        ok = f != NULL && fclose(f) == 0 && ok;
        buf_free(&b);
        return ok ? 0 : 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
