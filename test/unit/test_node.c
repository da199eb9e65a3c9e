/* test_node.c - what of c_src/wire and the vm tier can be tested without a node: reading terms,
 * epmd's answers, command lines, cookies, and the catalog of probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "emulated.h"
#include "wire/name.h"
#include "tier/functions.h"
#include "wire/epmd.h"
#include "etf/etf.h"
#include "tier/vm_load.h"
#include "wire/find.h"
#include "wire/processor.h"
#include "wire/reach.h"
#include "wire/cred.h"
#include "wire/optfile.h"

/* -- terms ------------------------------------------------------------------------------------- */

/* {erltrace, 7, {ok, running, {1, -2, 2^40, -(2^40)}, [<<"ab">>, "cd", [233, 8364]], true, Pid,
 * #Ref, 1.5, #{a => b}}} */
static void term_make(ei_x_buff *x)
{
    static const erlang_pid pid = {.node = "n@h", .num = 5, .serial = 6, .creation = 7};
    static const erlang_ref ref = {.node = "n@h", .len = 3, .n = {1, 2, 3}, .creation = 7};
    ei_x_new_with_version(x);
    ei_x_encode_tuple_header(x, 3);
    ei_x_encode_atom(x, "erltrace");
    ei_x_encode_long(x, 7);
    ei_x_encode_tuple_header(x, 9);
    ei_x_encode_atom(x, "ok");
    ei_x_encode_atom(x, "running");
    ei_x_encode_tuple_header(x, 4);
    ei_x_encode_long(x, 1);
    ei_x_encode_long(x, -2);
    ei_x_encode_longlong(x, 1LL << 40);
    ei_x_encode_longlong(x, -(1LL << 40));
    ei_x_encode_list_header(x, 3);
    ei_x_encode_binary(x, "ab", 2);
    ei_x_encode_string(x, "cd");
    ei_x_encode_list_header(x, 2);
    ei_x_encode_long(x, 233);
    ei_x_encode_long(x, 8364);
    ei_x_encode_empty_list(x);
    ei_x_encode_empty_list(x);
    ei_x_encode_atom(x, "true");
    ei_x_encode_pid(x, &pid);
    ei_x_encode_ref(x, &ref);
    ei_x_encode_double(x, 1.5);
    ei_x_encode_map_header(x, 1);
    ei_x_encode_atom(x, "a");
    ei_x_encode_atom(x, "b");
}

/* Reads the whole of it; true when everything was as it should be. */
static bool term_read(struct etf *r)
{
    struct buf b = BUF_INIT;
    char atom[ETF_ATOM_MAX];
    erlang_pid pid;
    bool ok = true;
    etf_version(r);
    ok &= etf_tuple(r) == 3 && etf_atom_is(r, "erltrace") && etf_int(r) == 7;
    ok &= etf_tuple(r) == 9 && etf_atom_is(r, "ok");
    ok &= etf_atom(r, atom) == 7 && strcmp(atom, "running") == 0;
    ok &= etf_tuple(r) == 4 && etf_uint(r) == 1 && etf_int(r) == -2;
    ok &= etf_uint(r) == (uint64_t)1 << 40 && etf_int(r) == -((int64_t)1 << 40);
    ok &= etf_list(r) == 3;
    for (int i = 0; i < 3; i++)
        etf_text(r, &b);
    etf_list_end(r);
    ok &= strcmp(buf_str(&b), "abcd\xc3\xa9\xe2\x82\xac") == 0;
    ok &= etf_atom_is(r, "true");
    etf_pid(r, &pid);
    ok &= strcmp(pid.node, "n@h") == 0 && pid.num == 5 && pid.serial == 6 && pid.creation == 7;
    etf_skip(r);
    etf_skip(r);
    etf_skip(r);
    buf_free(&b);
    return ok && !r->bad && r->p == r->end;
}

static void test_etf_reads(void **state)
{
    (void)state;
    ei_x_buff x;
    term_make(&x);
    struct etf r = etf_over(x.buff, (size_t)x.index), s = r;
    assert_true(term_read(&r));
    etf_version(&s);
    etf_skip(&s);
    assert_false(s.bad);
    assert_ptr_equal(s.p, s.end);
    ei_x_free(&x);
}

/* Cut at each byte, in memory of exactly that size, so that a sanitizer or valgrind sees a step too
 * far. */
static void test_etf_cut(void **state)
{
    (void)state;
    ei_x_buff x;
    term_make(&x);
    for (size_t n = 0; n < (size_t)x.index; n++) {
        char *copy = malloc(n + 1);
        char *at = copy + 1;
        memcpy(at, x.buff, n);
        struct etf r = etf_over(at, n), s = r;
        assert_false(term_read(&r));
        assert_true(r.bad);
        etf_version(&s);
        etf_skip(&s);
        assert_true(s.bad);
        free(copy);
    }
    ei_x_free(&x);
}

/* Any byte changed: it may read as another term, but never past the end. */
static void test_etf_changed(void **state)
{
    (void)state;
    ei_x_buff x;
    term_make(&x);
    size_t n = (size_t)x.index;
    for (size_t at = 0; at < n; at++)
        for (unsigned v = 0; v < 256; v++) {
            unsigned char *copy = malloc(n);
            memcpy(copy, x.buff, n);
            copy[at] = (unsigned char)v;
            struct etf r = etf_over(copy, n), s = r;
            term_read(&r);
            etf_skip(&s);
            assert_true(r.p <= r.end && s.p <= s.end);
            free(copy);
        }
    ei_x_free(&x);
}

static void test_etf_limits(void **state)
{
    (void)state;
    /* Not in a 64-bit number: 2^64, and -(2^63) - 1; the last that are: 2^64 - 1 and -(2^63). */
    static const unsigned char big[] = {'n', 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const unsigned char low[] = {'n', 8, 1, 1, 0, 0, 0, 0, 0, 0, 0x80};
    static const unsigned char max[] = {'n', 8, 0, 255, 255, 255, 255, 255, 255, 255, 255};
    static const unsigned char min[] = {'n', 8, 1, 0, 0, 0, 0, 0, 0, 0, 0x80};
    static const unsigned char neg[] = {'b', 255, 255, 255, 255};
    static const unsigned char longlist[] = {'l', 255, 255, 255, 255, 'j'};
    struct etf r = etf_over(big, sizeof big);
    etf_uint(&r);
    assert_true(r.bad);
    r = etf_over(low, sizeof low);
    etf_int(&r);
    assert_true(r.bad);
    r = etf_over(max, sizeof max);
    assert_true(etf_uint(&r) == UINT64_MAX && !r.bad);
    r = etf_over(max, sizeof max);
    etf_int(&r);
    assert_true(r.bad);
    r = etf_over(min, sizeof min);
    assert_true(etf_int(&r) == INT64_MIN && !r.bad);
    r = etf_over(neg, sizeof neg);
    etf_uint(&r);
    assert_true(r.bad);
    r = etf_over(longlist, sizeof longlist);
    assert_int_equal(etf_list(&r), 0);
    assert_true(r.bad);
}

/* -- epmd -------------------------------------------------------------------------------------- */

static void test_epmd_parse(void **state)
{
    (void)state;
    static const char text[] = "name rabbit at port 25672\n"
                               "noise that nobody sent\n"
                               "name a at port 0\n"
                               "name b at port 70000\n"
                               "name shop-1 at port 4000";
    struct epmd_list l;
    assert_int_equal(epmd_parse(text, strlen(text), &l), 0);
    assert_int_equal(l.n, 2);
    assert_string_equal(l.name[0].alive, "rabbit");
    assert_int_equal(l.name[0].port, 25672);
    assert_int_equal(epmd_find(&l, "shop-1")->port, 4000);
    assert_null(epmd_find(&l, "shop"));
    epmd_list_free(&l);
    assert_int_equal(epmd_parse("", 0, &l), 0);
    assert_int_equal(l.n, 0);
    char longname[700];
    memset(longname, 'x', sizeof longname);
    memcpy(longname, "name ", 5);
    assert_int_equal(epmd_parse(longname, sizeof longname, &l), 0);
    assert_int_equal(l.n, 0);
}

/* -- command lines ----------------------------------------------------------------------------- */

#define BEAM "/usr/lib/erlang/erts-13.1.5/bin/beam.smp"
#define HEAD                                                                                       \
    BEAM "|-A|1|--|-root|/usr/lib/erlang|-bindir|/usr/lib/erlang/erts-13.1.5/"                     \
         "bin|-progname|erl|--|-home|/h|--|"

static void test_beam_args(void **state)
{
    (void)state;
    static const struct {
        const char *args; /* | stands for the NUL after each argument */
        bool beam;
        const char *alive, *name, *cookie, *otp;
        bool longnames;
    } t[] = {
        {HEAD "-sname|shop|", true, "shop", "shop@here", "", "25", false},
        {HEAD "-sname|shop@there|-setcookie|c|", true, "shop", "shop@there", "c", "25", false},
        {HEAD "-name|shop@10.0.0.1|-noshell|", true, "shop", "shop@10.0.0.1", "", "25", true},
        {HEAD "-name|shop|", true, "shop", "shop@here", "", "25", true},
        {HEAD "-sname|one|-sname|two|", true, "one", "one@here", "", "25", false},
        {HEAD "-noshell|", true, "", "", "", "25", false},
        {HEAD "-sname|undefined|", true, "", "", "", "25", false},
        {HEAD "-sname|a|-extra|-sname|b|-setcookie|c|", true, "a", "a@here", "", "25", false},
        {HEAD "-extra|-sname|b|", true, "", "", "", "25", false},
        {HEAD "-setcookie|c1|-setcookie|c2|", true, "", "", "", "25", false},
        {HEAD "-setcookie|other@host|c1|-setcookie|c2|", true, "", "", "c2", "25", false},
        {HEAD "-setcookie|c1|-setcookie|other@host|c2|", true, "", "", "c1", "25", false},
        {HEAD "-eval|-sname|shop|", true, "shop", "shop@here", "", "25", false},
        /* the emulator's own flags are not Erlang's */
        {BEAM "|-sname|emu|--|-home|/h|--|-noshell|", true, "", "", "", "25", false},
        {"beam|--|-home|/h|--|-sname|old|", true, "old", "old@here", "", "", false},
        {"/opt/erts-14.2/bin/beam.debug.smp|--|-sname|d|", true, "d", "d@here", "", "26", false},
        /* ESCRIPT_NAME comes first, as the start scripts of releases set it */
        {"/opt/app/bin/app|--|-root|/opt/app|-bindir|/opt/app/erts-15.2/bin|-progname|app|--|"
         "-home|/h|--|-sname|shop|",
         true, "shop", "shop@here", "", "27", false},
        {"/usr/bin/qemu-aarch64|" HEAD "-name|shop@10.0.0.1|", true, "shop", "shop@10.0.0.1", "",
         "25", true},
        {"/opt/app/bin/app|-root|/opt/app|--|-sname|shop|", false, "", "", "", "", false},
        {"/usr/bin/beamer|-sname|x|", false, "", "", "", "", false},
        {"/usr/bin/vi|beam.smp|", false, "", "", "", "", false},
        {"", false, "", "", "", "", false},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct beam b = {0};
        char args[512];
        size_t n = strlen(t[i].args);
        memcpy(args, t[i].args, n + 1);
        for (size_t k = 0; k < n; k++)
            if (args[k] == '|')
                args[k] = '\0';
        print_message("  %s\n", t[i].args);
        assert_int_equal(beam_args(&b, args, n, "here"), t[i].beam);
        if (!t[i].beam)
            continue;
        assert_string_equal(b.alive, t[i].alive);
        assert_string_equal(b.name, t[i].name);
        assert_string_equal(b.cookie, t[i].cookie);
        assert_string_equal(b.otp, t[i].otp);
        assert_int_equal(b.longnames, t[i].longnames);
    }
}

/* What keeps a connection away, and what remains. */
static void test_unreachable(void **state)
{
    (void)state;
    static const struct {
        const char *more; /* arguments, as above */
        uint16_t port;
        const char *text, *help;
    } t[] = {
        {"-sname|a|-proto_dist|shop|", 4000, "over shop, which erltrace does not",
         "erltrace:run/2"},
        {"-sname|a|-proto_dist|inet_tls|", 4000, "over TLS (-proto_dist inet_tls)",
         "--tls-from-node"},
        {"-sname|a|-dist_listen|false|", 0, "-dist_listen false", "erltrace:run/2"},
        {"-sname|a|-dist_listen|true|", 0, "epmd does not know it", "epmd -names"},
        {"-noshell|", 0, "is not distributed", "RELEASE_DISTRIBUTION"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct beam b = {.pid = 7, .uid = geteuid(), .fds_known = true};
        struct reach_problem p;
        char args[512];
        int n = snprintf(args, sizeof args, "%s%s", HEAD, t[i].more);
        for (int k = 0; k < n; k++)
            if (args[k] == '|')
                args[k] = '\0';
        assert_true(beam_args(&b, args, (size_t)n, "here"));
        b.port = t[i].port;
        assert_int_equal(reach_check(&b, NULL, &p), ET_ENODE);
        assert_non_null(strstr(p.text, t[i].text));
        assert_non_null(strstr(p.help, t[i].help));
        assert_true(strlen(p.help) + 1 < sizeof p.help); /* nothing is cut off */
    }
}

/* A command line can be cut by the kernel, and names can be longer than any name may be. */
static void test_beam_args_odd(void **state)
{
    (void)state;
    char args[3000], *p = args;
    struct beam b = {0};
    p += sprintf(p, "beam.smp") + 1;
    p += sprintf(p, "--") + 1;
    p += sprintf(p, "-sname") + 1;
    memset(p, 'n', 2000);
    p += 2000;
    *p++ = '\0';
    assert_true(beam_args(&b, args, (size_t)(p - args), "here"));
    assert_string_equal(b.name, "");
    assert_false(beam_args(&b, args, (size_t)(p - args) - 1, "here")); /* no NUL at its end */
}

static void test_otp_of_erts(void **state)
{
    (void)state;
    static const struct {
        const char *erts;
        unsigned otp;
    } t[] = {{"13.1.5", 25}, {"15.2.7", 27}, {"17.1", 29}, {"12.3", 24}, {"11.0", 23}, {"10.7", 22},
             {"10.3", 21},   {"9.3", 20},    {"7.0", 18},  {"x", 0},     {"", 0}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_int_equal(beam_otp_of_erts(t[i].erts), t[i].otp);
}

/* Names that epmd has go to the BEAM that listens at their port, or where its sockets are unknown,
 * has their name. */
static void test_match_epmd(void **state)
{
    (void)state;
    struct beam b[5] = {
        {.pid = 1,
         .alive = "shop",
         .name = "shop@h",
         .fds_known = true,
         .listen = {80, 4001},
         .nlisten = 2},
        {.pid = 2, .fds_known = true, .listen = {4002}, .nlisten = 1},
        {.pid = 3, .alive = "closed", .name = "closed@h"},
        {.pid = 4, .alive = "shop", .name = "shop@h", .fds_known = true},
        {.pid = 5, .alive = "closed", .other_net = true},
    };
    struct epmd_name names[] = {{"shop", 4001}, {"later", 4002}, {"closed", 4003}};
    struct beam_list l = {b, 5};
    beam_match_epmd(&l, &(struct epmd_list){names, 3});
    assert_int_equal(b[0].port, 4001);
    assert_int_equal(b[1].port, 4002);
    assert_string_equal(b[1].alive, "later");
    assert_int_equal(b[2].port, 4003);
    assert_int_equal(b[3].port, 0); /* the other one has the name */
    assert_int_equal(b[4].port, 0);
}

/* What the file of an emulator says. */
static void test_emulator(void **state)
{
    (void)state;
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr part[2];
    } f = {.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                    .e_type = ET_DYN,
                    .e_phoff = sizeof(Elf64_Ehdr),
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = 2},
           .part = {{.p_type = PT_LOAD}, {.p_type = PT_INTERP}}};
    static const char loader[] = "/lib/ld-musl-aarch64.so.1";
    struct reach_problem p;
    struct beam b = {.pid = 7, .alive = "a", .port = 4000, .proto = "inet_tcp"};
    f.head.e_machine = EM_AARCH64;
    beam_emulator(&b, (const char *)&f, sizeof f);
    assert_int_equal(reach_check(&b, NULL, &p), 0);
    assert_string_equal(b.loader, "");
    char with[sizeof f + sizeof loader]; /* ... of the C library */
    f.part[1].p_offset = sizeof f;
    f.part[1].p_filesz = sizeof loader;
    memcpy(with, &f, sizeof f);
    memcpy(with + sizeof f, loader, sizeof loader);
    beam_emulator(&b, with, sizeof with);
    assert_string_equal(b.loader, loader);
    beam_emulator(&b, with, sizeof with - 1); /* not all of it can be seen */
    assert_string_equal(b.loader, "");
    assert_false(b.loads_nothing);
    f.head.e_machine = EM_X86_64;
    beam_emulator(&b, (const char *)&f, sizeof f);
    assert_int_equal(reach_check(&b, NULL, &p), 0);

    f.part[1].p_type = PT_NOTE;
    beam_emulator(&b, (const char *)&f, sizeof f);
    assert_int_equal(reach_check(&b, NULL, &p), ET_EOTP);
    assert_string_equal(p.tag, "OTP_ARCH");
    assert_non_null(strstr(p.text, "linked statically"));
    beam_emulator(&b, (const char *)&f, sizeof f - 1); /* not all of it can be seen */
    assert_int_equal(reach_check(&b, NULL, &p), 0);

    f.head.e_machine = EM_RISCV;
    f.head.e_ident[EI_CLASS] = ELFCLASS32;
    beam_emulator(&b, (const char *)&f, sizeof f);
    assert_int_equal(reach_check(&b, NULL, &p), ET_EOTP);
    assert_string_equal(p.tag, "OTP_ARCH");
    assert_non_null(strstr(p.text, processor_name(f.head.e_machine)));
    assert_string_equal(processor_name(EM_AARCH64), "aarch64");

    beam_emulator(&b, "#!/bin/sh\n", 10);
    assert_int_equal(reach_check(&b, NULL, &p), 0);
}

/* All that is in the way at once: each thing has its row, in the order that doctor tells, and the
 * first one is the error. */
static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *subject;
        int err;
        const char *level, *text;
    } t[] = {
        {"found", 0, NULL, "process 7 of user shop"},
        {"permitted", ET_ENODE, "limit", "may not enter"},
        {"c_library", ET_EOTP, "limit", "linked statically"},
        {"processor", ET_EOTP, "limit", "riscv64"},
        {"jit", 0, "limit", "probes are silent"},
        {"release", ET_EOTP, "limit", "OTP 24"},
        {"folders", 0, NULL, ""},
        {"distribution", ET_ENODE, "limit", "-dist_listen false"},
    };
    struct beam b = {.pid = 7,
                     .uid = geteuid() + 1,
                     .owner = "shop",
                     .alive = "a",
                     .name = "a@b",
                     .otp = "24",
                     .proto = "inet_tcp",
                     .deaf = true,
                     .other_net = true,
                     .machine = EM_RISCV,
                     .loads_nothing = true,
                     .emulated = true};
    struct reach_row row[REACH_ROWS];
    struct reach_problem p;
    reach_table(&b, NULL, row);
    assert_int_equal(sizeof t / sizeof *t, REACH_ROWS);
    for (size_t i = 0; i < REACH_ROWS; i++) {
        assert_string_equal(row[i].subject, t[i].subject);
        assert_int_equal(row[i].p.err, t[i].err);
        assert_non_null(strstr(row[i].p.text, t[i].text));
        assert_true((row[i].p.level == NULL) == (t[i].level == NULL));
        if (t[i].level != NULL)
            assert_string_equal(row[i].p.level, t[i].level);
        assert_true((row[i].p.help[0] != '\0') == (t[i].level != NULL));
    }
    assert_int_equal(reach_check(&b, NULL, &p), ET_ENODE);
    assert_string_equal(p.tag, "NODE_PERM");

    /* Nothing is in the way: what is there is said; what is only worth knowing is no error. */
    b = (struct beam){.pid = 7, .fds_known = true, .alive = "a", .port = 4000, .proto = "inet_tcp"};
    strcpy(b.loader, "/lib/ld-musl-x86_64.so.1");
    b.machine = EM_X86_64;
    b.no_jit = true;
    reach_table(&b, NULL, row);
    assert_non_null(strstr(row[2].p.text, "musl"));
    assert_non_null(strstr(row[3].p.text, "x86_64"));
    assert_string_equal(row[4].p.level, "note");
    assert_string_equal(row[5].p.level, "note"); /* the release is not known */
    assert_int_equal(reach_check(&b, NULL, &p), 0);

    /* The name of an emulator for musl does not tell whether it has the JIT; a flag of it does. */
    b.no_jit = false;
    reach_table(&b, NULL, row);
    assert_string_equal(row[4].p.level, "note");
    assert_non_null(strstr(row[4].p.help, "emu_flavor"));
    b.jit_single = true;
    reach_table(&b, NULL, row);
    assert_null(row[4].p.level);
    b.jit_single = false;
    strcpy(b.loader, "/lib64/ld-linux-x86-64.so.2");
    reach_table(&b, NULL, row);
    assert_null(row[4].p.level);
}

/* Of the emulator's own flags those of the JIT are read, before the first "--" only. */
static void test_flags_of_the_jit(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        bool no_jit, single;
    } t[] = {
        {"/e/erts-15.0/bin/beam.smp|-JMsingle|true|--|-root|/r|--|-sname|a|", false, true},
        {"/e/erts-15.0/bin/beam.smp|-JMsingle|false|--|-root|/r|--|-sname|a|", false, false},
        {"/e/erts-15.0/bin/beam.smp|--|-root|/r|--|-JMsingle|true|", false, false},
        {"/e/erts-15.0/bin/beam.emu.smp|-W|w|--|-root|/r|--|-sname|a|", true, false},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct beam b = {.pid = 7};
        char args[256];
        int n = snprintf(args, sizeof args, "%s", t[i].args);
        for (int k = 0; k < n; k++)
            if (args[k] == '|')
                args[k] = '\0';
        assert_true(beam_args(&b, args, (size_t)n, "here"));
        assert_int_equal(b.no_jit, t[i].no_jit);
        assert_int_equal(b.jit_single, t[i].single);
    }
}

/* -- cookies ----------------------------------------------------------------------------------- */

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_cookie(void **state)
{
    (void)state;
    char home[] = "/tmp/test_node_XXXXXX", path[128], out[COOKIE_MAX];
    struct cookie_source s;
    needs_root_folder();
    assert_non_null(mkdtemp(home));
    struct beam b = {.pid = getpid(), .uid = geteuid()};
    snprintf(b.home, sizeof b.home, "%s", home);
    unsetenv("XDG_CONFIG_HOME");

    assert_false(cookie_find(&b, NULL, NULL, out, &s));
    assert_non_null(strstr(s.why, "/.erlang.cookie: No such file"));
    assert_false(s.denied);
    snprintf(path, sizeof path, "%s/.erlang.cookie", home);
    put_file(path, "");
    assert_false(cookie_find(&b, NULL, NULL, out, &s));
    put_file(path, "from-home\n");
    assert_true(cookie_find(&b, NULL, NULL, out, &s));
    assert_string_equal(out, "from-home");
    assert_string_equal(s.from, path);
    /* one that was given goes first, then a file that was given, then the command line's */
    assert_true(cookie_find(&b, "given", path, out, &s));
    assert_string_equal(out, "given");
    strcpy(b.cookie, "of-the-process");
    assert_true(cookie_find(&b, NULL, path, out, &s));
    assert_string_equal(out, "from-home");
    assert_true(cookie_find(&b, NULL, NULL, out, &s));
    assert_string_equal(out, "of-the-process");
    assert_null(strstr(s.from, "of-the-process"));
    assert_false(cookie_find(&b, "", NULL, out, &s));
    unlink(path);
    rmdir(home);
}

/* -- the catalog ------------------------------------------------------------------------------- */

struct fake {
    unsigned modules, functions, asked; /* calls, and modules that functions were asked of */
    bool fail, reloaded;
};

static int fake_modules(void *arg, struct catalog *c, struct diags *d)
{
    struct fake *f = arg;
    f->modules++;
    if (f->fail)
        return diag_error(d, ET_ELOST, NULL, "NODE_LOST", NULL, "gone");
    return catalog_add_module(c, "maps") && catalog_add_module(c, "lists") &&
                   catalog_add_module(c, "huge") && catalog_add_module(c, "lists")
               ? 0
               : ET_ENOMEM;
}

static int fake_functions(void *arg, struct catalog *c, const uint32_t *mods, size_t n,
                          struct diags *d)
{
    static const struct catalog_fn lists[] = {
        {.name = "seq", .arity = 3},
        {.name = "map", .arity = 2},
        {.name = "seq", .arity = 2},
        {.name = "append", .arity = 1},
        {.name = "seq", .arity = 4}}; /* two when loaded anew */
    static const struct catalog_fn maps[] = {{.name = "map", .arity = 2, .class = PROBE_FN_BIF}};
    struct fake *f = arg;
    (void)d;
    f->functions++;
    f->asked += (unsigned)n;
    for (size_t i = 0; i < n; i++) {
        struct catalog_mod *m = &c->mod[mods[i]];
        if (strcmp(m->name, "lists") == 0) {
            if (!catalog_set_functions(c, m, lists, f->reloaded ? 5 : 3))
                return ET_ENOMEM;
        } else if (strcmp(m->name, "maps") == 0 || strcmp(m->name, "atlas") == 0) {
            if (!catalog_set_functions(c, m, maps, 1))
                return ET_ENOMEM;
        } else {
            static struct catalog_fn huge[4000];
            static char names[4000][8];
            for (uint32_t k = 0; k < 4000; k++) {
                snprintf(names[k], sizeof names[k], "f%05u", k);
                huge[k] = (struct catalog_fn){.name = names[k], .arity = k & 3};
            }
            if (!catalog_set_functions(c, m, huge, 4000))
                return ET_ENOMEM;
        }
    }
    return 0;
}

struct hits {
    size_t n;
    uint32_t first, last, previous;
    bool ordered;
    char text[512]; /* of the first few, "id:prov:mod:func:name " */
};

static int on_hit(void *arg, const struct tier_probe *p)
{
    struct hits *h = arg;
    size_t k = strlen(h->text);
    if (h->n++ == 0) {
        h->first = p->id;
        h->ordered = true;
    } else {
        h->ordered &= p->id > h->previous;
    }
    h->previous = h->last = p->id;
    if (h->n <= 6)
        snprintf(h->text + k, sizeof h->text - k, "%u:%s:%s:%s:%s ", p->id, p->prov, p->mod,
                 p->func, p->name);
    return 0;
}

static struct hits match(struct catalog *c, const char *prov, const char *mod, const char *func,
                         const char *name)
{
    struct diags d;
    struct hits h = {0};
    struct probe_spec s = {.prov = prov, .mod = mod, .func = func, .name = name};
    diags_init(&d);
    assert_int_equal(catalog_match(c, NULL, &s, on_hit, &h, &d), 0);
    assert_int_equal(d.errors, 0);
    diags_free(&d);
    return h;
}

static void catalog_make(struct catalog *c, struct fake *f)
{
    struct catalog_source src = {f, fake_modules, fake_functions};
    *f = (struct fake){0};
    assert_int_equal(catalog_init(c, "erlang12", 25, &src), 0);
}

static void test_catalog_match(void **state)
{
    (void)state;
    struct catalog c;
    struct fake f;
    catalog_make(&c, &f);
    assert_string_equal(match(&c, "", "", "", "BEGIN").text, "1:dtrace:::BEGIN ");
    assert_int_equal(match(&c, "dtrace", "", "", "").n, 3);
    assert_int_equal(match(&c, "", "", "", "process-spawn").n, 1);
    assert_int_equal(match(&c, "erlang*", "", "", "gc_m*").n, 4);
    assert_int_equal(match(&c, "erlang13", "", "", "").n, 0);
    assert_string_equal(match(&c, "", "", "", "tick-1sec").text, "1000:profile:::tick-1sec ");
    assert_string_equal(match(&c, "profile", "", "", "tick-5").text, "1001:profile:::tick-5 ");
    assert_int_equal(match(&c, "profile", "", "", "tick-*").n, 6 + 2); /* six by default */
    assert_string_equal(match(&c, "profile", "", "", "tick-100").text, "909:profile:::tick-100 ");
    assert_string_equal(match(&c, "", "", "", "tick-1").text, "907:profile:::tick-1 ");
    assert_int_equal(match(&c, "profile", "", "", "profile-*").n, 7); /* seven by default */
    assert_string_equal(match(&c, "profile", "", "", "profile-97").text,
                        "900:profile:::profile-97 ");
    assert_string_equal(match(&c, "", "", "", "profile-11ms").text, "1002:profile:::profile-11ms ");
    assert_int_equal(match(&c, "profile", "m", "", "tick-7").n, 0);
    assert_int_equal(match(&c, "erlang", "", "", "tick-7").n, 0);
    assert_string_equal(match(&c, "", "", "", "user_trace-n17").text,
                        "3017:erlang12:::user_trace-n17 ");
    assert_int_equal(match(&c, "", "", "", "user_trace-n95?").n, 1);
    assert_int_equal(match(&c, "", "", "", "user_trace-n951").n, 0);
    assert_int_equal(match(&c, "erlang", "", "", "user_trace-*").n, 951 + 2);
    assert_string_equal(match(&c, "erlang", "erltrace", "probe", "order").text,
                        "4000:erlang12:erltrace:probe:order ");
    assert_string_equal(match(&c, "erlang", "erl*", "", "o*").text,
                        "4001:erlang12:erltrace:probe:o* ");
    assert_int_equal(match(&c, "erlang", "erltrace", "probe", "order").first, 4000);
    assert_int_equal(match(&c, "profile", "erltrace", "probe", "order").n, 0);
    assert_int_equal(f.modules, 0); /* none of these could be a function */

    /* sorted: huge 0, lists 1, maps 2; in lists map/2 0, seq/2 1, seq/3 2 */
    assert_string_equal(match(&c, "", "lists", "map/2", "return").text,
                        "20001:erlang12:lists:map/2:return ");
    assert_int_equal(f.modules, 1);
    assert_int_equal(f.asked, 1); /* of lists only */
    assert_string_equal(match(&c, "erlang", "lists", "seq", "function-entry").text,
                        "20005:erlang12:lists:seq/2:entry 20010:erlang12:lists:seq/3:entry ");
    assert_int_equal(match(&c, "", "l*", "", "").n, 9); /* local-function-entry is an entry */
    assert_int_equal(match(&c, "", "l*", "", "local-*").n, 3);
    assert_string_equal(match(&c, "", "*", "", "bif-*").text,
                        "30003:erlang12:maps:map/2:bif-entry "
                        "30004:erlang12:maps:map/2:bif-return ");
    assert_string_equal(match(&c, "", "", "map", "entry").text,
                        "20000:erlang12:lists:map/2:entry 30000:erlang12:maps:map/2:entry ");
    assert_int_equal(f.asked, 3);

    struct hits all = match(&c, "", "", "", "");
    size_t named = 0;
    for (const struct probe_def *p = NULL; (p = probe_erlang_next(p)) != NULL;)
        named += probe_on(p, 25) == PROBE_BY_VM ? p->numbered ? p->numbered : 1 : 0;
    assert_int_equal(all.n, 3 + named + 14 + 3 + 3 * (3 + 1 + 4000));
    assert_true(all.ordered);
    assert_int_equal(all.first, 1);
    assert_int_equal(f.modules, 1);
    catalog_free(&c);
}

/* Ids lead back to their probes, in a catalog that has not been asked anything else. */
static void test_catalog_ids(void **state)
{
    (void)state;
    struct catalog c;
    struct fake f;
    struct diags d;
    diags_init(&d);
    static const struct {
        uint32_t id;
        const char *text;
    } t[] = {{2, "2:dtrace:::END "},
             {20010, "20010:erlang12:lists:seq/3:entry "},
             {30002, "30002:erlang12:maps:map/2:exception "},
             {3950, "3950:erlang12:::user_trace-n950 "},
             {PROBE_USER_TRACE_N, ""},
             {PROBE_USER, ""},
             {3951, ""},
             {4000, ""},
             {30003, "30003:erlang12:maps:map/2:bif-entry "},
             {10000 + 5 * 1999 + 2, "19997:erlang12:huge:f01999/3:exception "},
             {3000000000u, "3000000000:erlang12:huge:f02000/0:entry "},
             {3000000000u + 5 * 1999 + 1, "3000009996:erlang12:huge:f03999/3:return "},
             {4, ""},
             {999, ""},
             {1000, ""},
             {20009, "20009:erlang12:lists:seq/2:global-function-entry "},
             {20015, ""},
             {40000, ""},
             {3000010000u, ""},
             {UINT32_MAX, ""}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct probe_spec s = {.prov = "", .mod = "", .func = "", .name = "", .id = t[i].id};
        struct hits h = {0};
        catalog_make(&c, &f);
        assert_int_equal(catalog_match(&c, NULL, &s, on_hit, &h, &d), 0);
        assert_string_equal(h.text, t[i].text);
        catalog_free(&c);
    }
    diags_free(&d);
}

static struct hits match_new(struct catalog *c, const char *mod, const char *name)
{
    struct diags d;
    struct hits h = {0};
    struct probe_spec s = {.prov = "", .mod = mod, .func = "", .name = name};
    diags_init(&d);
    assert_int_equal(catalog_match_new(c, &s, on_hit, &h, &d), 0);
    diags_free(&d);
    return h;
}

/* Code that is loaded adds probes; those that were there keep their ids. */
static void test_catalog_loaded(void **state)
{
    (void)state;
    struct catalog c;
    struct fake f;
    catalog_make(&c, &f);
    assert_true(catalog_loaded(&c, "atlas")); /* nobody has asked for functions yet */
    assert_int_equal(match_new(&c, "", "entry").n, 0);
    assert_int_equal(match(&c, "", "lists", "", "entry").n, 3);
    assert_int_equal(match(&c, "", "huge", "", "entry").n, 4000);
    catalog_settle(&c);
    unsigned asked = f.asked;

    assert_true(catalog_loaded(&c, "lists")); /* the same code once more */
    assert_int_equal(match_new(&c, "", "tick-1").n, 0);
    assert_int_equal(f.asked, asked);
    assert_int_equal(match_new(&c, "lists", "entry").n, 0);
    assert_int_equal(f.asked, asked + 1);
    catalog_settle(&c);

    f.reloaded = true;
    assert_true(catalog_loaded(&c, "lists") && catalog_loaded(&c, "atlas") &&
                catalog_loaded(&c, "unknown") && catalog_loaded(&c, "atlas"));
    assert_string_equal(match_new(&c, "lists", "entry").text,
                        "3000010000:erlang12:lists:append/1:entry "
                        "3000010005:erlang12:lists:seq/4:entry ");
    assert_string_equal(match_new(&c, "a*", "bif-*").text,
                        "3000010013:erlang12:atlas:map/2:bif-entry "
                        "3000010014:erlang12:atlas:map/2:bif-return ");
    catalog_settle(&c);
    assert_int_equal(match_new(&c, "", "entry").n, 0);
    assert_string_equal(match(&c, "", "lists", "seq", "entry").text,
                        "20005:erlang12:lists:seq/2:entry 20010:erlang12:lists:seq/3:entry "
                        "3000010005:erlang12:lists:seq/4:entry ");
    assert_int_equal(match(&c, "", "atlas", "", "entry").n, 1);
    catalog_free(&c);
}

static void test_catalog_errors(void **state)
{
    (void)state;
    struct catalog c;
    struct fake f;
    struct diags d;
    struct hits h = {0};
    struct probe_spec s = {.prov = "", .mod = "lists", .func = "", .name = "entry"};
    diags_init(&d);
    catalog_make(&c, &f);
    f.fail = true;
    assert_int_equal(catalog_match(&c, NULL, &s, on_hit, &h, &d), ET_ELOST);
    assert_int_equal(d.errors, 1);
    f.fail = false;
    assert_int_equal(catalog_match(&c, NULL, &s, on_hit, &h, &d), 0);
    assert_int_equal(h.n, 3);
    catalog_free(&c);
    diags_free(&d);
}

/* Each allocation fails once; nothing leaks, and nothing is half there that a later call would
 * trust. */
static void test_catalog_out_of_memory(void **state)
{
    (void)state;
    struct probe_spec s = {.prov = "", .mod = "", .func = "", .name = ""};
    for (unsigned long n = 1; n < 200; n++) {
        struct catalog c;
        struct fake f = {0};
        struct catalog_source src = {&f, fake_modules, fake_functions};
        struct diags d;
        struct hits h = {0};
        diags_init(&d);
        et_alloc_fail_after(n);
        int e = catalog_init(&c, "erlang12", 25, &src);
        if (e == 0)
            e = catalog_match(&c, NULL, &s, on_hit, &h, &d);
        et_alloc_fail_after(0);
        catalog_free(&c);
        diags_free(&d);
        if (e == 0)
            return;
        assert_int_equal(e, ET_ENOMEM);
    }
}

static void test_catalog_suggest(void **state)
{
    (void)state;
    struct catalog c;
    struct fake f;
    catalog_make(&c, &f);
    static const struct {
        struct probe_spec s;
        const char *hint;
    } t[] = {
        {{"", "", "", "proces-spawn", 0}, "no probe 'proces-spawn'; did you mean 'process-spawn'?"},
        {{"erlang*", "", "", "gc-*", 0},
         "there is no such probe; -l -P erlang lists those that exist"},
        {{"", "", "", "BEGIM", 0}, "no probe 'BEGIM'; did you mean 'BEGIN'?"},
        {{"", "list", "", "entry", 0}, "module 'list' is not loaded; did you mean 'lists'?"},
        {{"", "rabbit", "", "", 0},
         "module 'rabbit' is not loaded; erltrace sees loaded modules only"},
        {{"", "r*", "", "", 0}, "no loaded module matches 'r*'; erltrace sees loaded modules only"},
        {{"", "lists", "seq/1", "", 0}, "lists has no seq/1; it has seq/2 and seq/3"},
        {{"", "lists", "sep", "entry", 0}, "lists has no function 'sep'; did you mean 'seq'?"},
        {{"", "lists", "zzzzzz", "entry", 0}, "lists has no function 'zzzzzz'"},
        {{"", "", "zzzzzz", "entry", 0},
         "none of the 3 modules that match has a function 'zzzzzz'"},
        {{"", "lists", "seq", "entri", 0},
         "functions have no probe 'entri'; did you mean 'entry'?"},
        {{"erlang7", "", "", "", 0},
         "the provider of this node is erlang12; erlang* means any node's"},
        {{"profle", "", "", "", 0}, "no provider 'profle'; did you mean 'profile'?"},
        {{"", "", "", "", 77}, "no probe has the id 77; -l lists them"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_string_equal(catalog_suggest(&c, &t[i].s), t[i].hint);
    catalog_free(&c);
}

/* {overload, {2000, 7, Threads, Kinds, Probes, 123,
 *             {3, [{20005, 1009}, {40000, 5}]}, {scheduler, 3, 1400, 870, 400}}} */
static void put_load(ei_x_buff *x)
{
    static const struct {
        const char *kind;
        unsigned long number, events, ns;
    } threads[] = {{"dirty_io", 1, 2, 30}, {"scheduler", 3, 5, 1000}, {"other", 9, 1, 1}};
    static const unsigned long kinds[][3] = {
        {PROBE_MESSAGE_SEND, 2, 30}, {PROBE_FN_RETURN, 4, 50}, {999, 1, 1}};
    static const unsigned long probes[][3] = {{20005, 4, 10}, {20010, 4, 90}, {40000, 1, 2}};
    ei_x_new(x);
    ei_x_encode_tuple_header(x, 2);
    ei_x_encode_atom(x, "overload");
    ei_x_encode_tuple_header(x, 8);
    ei_x_encode_ulong(x, 2000);
    ei_x_encode_ulong(x, 7);
    ei_x_encode_list_header(x, 3);
    for (size_t i = 0; i < 3; i++) {
        ei_x_encode_tuple_header(x, 5);
        ei_x_encode_atom(x, threads[i].kind);
        ei_x_encode_ulong(x, threads[i].number);
        ei_x_encode_ulong(x, threads[i].events);
        ei_x_encode_ulong(x, threads[i].ns);
        ei_x_encode_ulong(x, 1500 + threads[i].number);
    }
    ei_x_encode_empty_list(x);
    for (int what = 0; what < 2; what++) {
        ei_x_encode_list_header(x, 3);
        for (size_t i = 0; i < 3; i++) {
            ei_x_encode_tuple_header(x, 3);
            for (size_t j = 0; j < 3; j++)
                ei_x_encode_ulong(x, what ? probes[i][j] : kinds[i][j]);
        }
        ei_x_encode_empty_list(x);
    }
    ei_x_encode_ulong(x, 123);
    ei_x_encode_tuple_header(x, 2);
    ei_x_encode_ulong(x, 3);
    ei_x_encode_list_header(x, 2);
    for (int i = 0; i < 2; i++) {
        ei_x_encode_tuple_header(x, 2);
        ei_x_encode_ulong(x, i == 0 ? 20005 : 40000);
        ei_x_encode_ulong(x, i == 0 ? 1009 : 5);
    }
    ei_x_encode_empty_list(x);
    ei_x_encode_tuple_header(x, 5);
    ei_x_encode_atom(x, "scheduler");
    ei_x_encode_ulong(x, 3);
    ei_x_encode_ulong(x, 1400);
    ei_x_encode_ulong(x, 870);
    ei_x_encode_ulong(x, 400);
}

static void test_load(void **state)
{
    (void)state;
    struct catalog c;
    struct fake f;
    struct arena a;
    struct tier_load l;
    ei_x_buff x;
    catalog_make(&c, &f);
    assert_int_equal(match(&c, "", "lists", "", "").n, 9);
    arena_init(&a);
    put_load(&x);
    struct etf r = etf_over(x.buff, (size_t)x.index);
    assert_true(load_read(&r, &c, &a, &l));
    assert_false(r.bad);
    assert_int_equal(etf_peek(&r), ETF_END);
    assert_int_equal(l.why, TIER_LOAD_OVERLOAD);
    assert_int_equal(l.ns, 2000);
    assert_int_equal(l.fired, 7);
    assert_int_equal(l.nthreads, 3); /* the busiest first */
    assert_string_equal(l.thread[0].kind, "scheduler");
    assert_int_equal(l.thread[0].number, 3);
    assert_int_equal(l.thread[0].ns, 1000);
    assert_int_equal(l.thread[0].time, 1503);
    assert_string_equal(l.thread[1].kind, "dirty I/O scheduler");
    assert_string_equal(l.thread[2].kind, "thread");
    assert_int_equal(l.nkinds, 3);
    assert_string_equal(l.kind[0].name, "return");
    assert_string_equal(l.kind[1].name, "message-send");
    assert_string_equal(l.kind[2].name, "?");
    assert_int_equal(l.nprobes, 3);
    assert_string_equal(l.probe[0].func, "seq/3");
    assert_string_equal(l.probe[0].mod, "lists");
    assert_string_equal(l.probe[0].name, "entry");
    assert_string_equal(l.probe[1].func, "seq/2");
    assert_string_equal(l.probe[2].name, ""); /* nobody knows it */
    assert_int_equal(l.vm, 123);
    assert_int_equal(l.functions, 3);
    assert_int_equal(l.ncounted, 2);
    assert_string_equal(l.counted[0].mod, "lists");
    assert_string_equal(l.counted[0].func, "seq/2");
    assert_int_equal(l.counted[0].calls, 1009);
    assert_string_equal(l.counted[1].func, ""); /* nobody knows it */
    assert_int_equal(l.over.number, 3);
    assert_int_equal(l.over.time, 1400);
    assert_int_equal(l.permille, 870);
    assert_int_equal(l.limit, 400);
    /* cut anywhere, and with any byte changed: no crash, nothing read beyond the end */
    for (int n = 0; n < x.index; n++) {
        r = etf_over(x.buff, (size_t)n);
        load_read(&r, &c, &a, &l);
        assert_true(r.bad);
        for (int v = 0; v < 256; v += 51) {
            char was = x.buff[n];
            x.buff[n] = (char)v;
            r = etf_over(x.buff, (size_t)x.index);
            load_read(&r, &c, &a, &l);
            x.buff[n] = was;
        }
    }
    ei_x_free(&x);
    arena_free(&a);
    catalog_free(&c);
}

static void test_names_are_shared_out(void **state)
{
    (void)state;
    unsigned a, b, c, d;
    const int fa = name_take(0, &a), fb = name_take(a, &b);
    assert_true(fa >= 0 && fb >= 0);
    assert_true(b > a); /* others on this host may hold some, and release them meanwhile */
    close(fa);
    int fc = name_take(a, &c); /* free again, unless somebody was faster */
    assert_true(fc >= 0 && c >= a && c != b);
    int fd = name_take(c + 1, &d);
    assert_true(fd >= 0 && d > c);
    assert_int_equal(name_take(NAME_SLOTS, &d), -1);
    close(fb);
    close(fc);
    close(fd);
}

/* -- the options of TLS ------------------------------------------------------------------------ */

/* What a client's options come to, on one line. */
static const char *optfile_text(const char *text)
{
    static char out[2400];
    static const char *const verify[] = {"", "host", "ca", "none"};
    struct optfile o = {0};
    char why[100];
    int e = optfile_read(&o, text, strlen(text), why, sizeof why);
    if (e)
        snprintf(out, sizeof out, "error %s", why);
    else
        snprintf(out, sizeof out, "%s|%s|%s|%s|%s|%s|%s", o.cert, o.key, o.cacert, o.password,
                 verify[o.verify], o.any_host ? "any" : o.host, o.not_read);
    return out;
}

static void test_optfile(void **state)
{
    static const struct {
        const char *text, *options;
    } rows[] = {
        {"[].", "||||||"},
        {"[{server, [{certfile, \"/s\"}]}].", "||||||"},
        {"[{client, [{certfile, \"/c\"}, {keyfile, \"/k\"}, {cacertfile, \"/a\"}, {verify, "
         "verify_peer}, {password, \"p\"}]}].",
         "/c|/k|/a|p|host||"},
        {"%% coding: latin-1\n[ {'client',[{certfile,<<\"/c\">>} , % "
         "one\n{verify,verify_none}]}\n]  .\n",
         "/c||||none||"},
        {"[{client, [{certfile, <<\"/\\\"c\\\"\"/utf8>>}, {server_name_indication, disable}]}].",
         "/\"c\"|||||any|"},
        {"[{client, [{server_name_indication, \"shop.example\"}, {certfile, \"/1\"}, {certfile, "
         "\"/2\"}]}].",
         "/1|||||shop.example|"},
        {"[{client, [{cacerts, public_key:cacerts_get()}, {secure_renegotiate, true}]}].",
         "||||||cacerts"},
        {"[{client, [{certs_keys, [#{certfile => \"/c\", keyfile => \"/k\"}]}]}].",
         "||||||certs_keys"},
        {"[{client, [{verify_fun, {fun(_, valid, S) -> {valid, S}; (_, R, _) -> {fail, R} end, "
         "[]}}, {certfile, \"/c\"}]}].",
         "/c||||||"},
        {"[{client, [{verify_fun, {shop, check, #{n => -1}}}, {depth, 2}, inet6 | []]}].",
         "||||||"},
        {"[{client, [{key, {'ECPrivateKey', <<48,119,2>>}}]}].", "||||||key"},
        {"[{client, []}]", "error line 1: it is not one list of options followed by a full stop"},
        {"{client, []}.", "error line 1: it is not one list of options followed by a full stop"},
        {"[{client,\n[{certfile, \"/c\n", "error line 2: a quote is not closed"},
        {"[{client,\n[}\n", "error line 2: it is no term"},
        {"", "error line 1: it ends too early"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(optfile_text(rows[i].text), rows[i].options);
}

/* A file that is cut anywhere, that never ends a bracket, or is all of one character. */
static void test_optfile_hostile(void **state)
{
    static const char whole[] =
        "[{server, [{certfile, \"/s\\\"\"}]}, % a\n{client, [{verify_fun, {fun m:f/3, []}}, "
        "{a, <<\"x\"/utf8>>}, {b, #{c => 'd\\'', e => 1.5}}, {f, <<1,2>>}]}].";
    static const char odd[] = "[{(<#'\"%\\:-.,|>=$a1 \n";
    char text[60000];
    (void)state;
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char *cut = et_malloc(n + 1); /* so that a look behind its end is found */
        assert_non_null(cut);
        memcpy(cut, whole, n);
        struct optfile o = {0};
        char why[100];
        assert_int_equal(optfile_read(&o, cut, n, why, sizeof why), ET_EINVAL);
        et_free(cut);
    }
    for (size_t i = 0; i < sizeof odd; i++) {
        memset(text, odd[i], sizeof text - 1);
        text[sizeof text - 1] = '\0';
        assert_int_equal(strncmp(optfile_text(text), "error ", 6), 0);
        text[0] = '[';
        assert_int_equal(strncmp(optfile_text(text), "error ", 6), 0);
    }
}

static void test_optfile_argument(void **state)
{
    struct optfile o = {0};
    char why[100];
    static const char file[] = "[{client, [{certfile, \"/file\"}, {keyfile, \"/key\"}]}].";
    (void)state;
    optfile_argument(&o, "server_certfile", "/server");
    optfile_argument(&o, "client_certfile", "/first");
    optfile_argument(&o, "client_verify", "verify_none");
    assert_int_equal(optfile_read(&o, file, sizeof file - 1, why, sizeof why), 0);
    assert_string_equal(o.cert, "/first");
    assert_string_equal(o.key, "/key");
    assert_int_equal(o.verify, TLS_VERIFY_NONE);
}

static void test_cred_option(void **state)
{
    static const struct {
        const char *name, *value, *why; /* NULL: it is taken */
    } rows[] = {
        {"cert", "/c", NULL},
        {"key", "/k", NULL},
        {"cacert", "", "it takes the name of a file"},
        {"verify", "ca", NULL},
        {"verify", "none", NULL},
        {"verify", "peer", "it takes host, ca or none"},
        {"from-node", NULL, NULL},
        {"from_node", NULL, NULL},
        {"from_node", "shop", "it takes no value"},
        {"from", NULL,
         "there is no such TLS option: the options are cert, key, cacert, verify and "
         "from_node"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cred_options o = {0};
        const char *why;
        assert_int_equal(cred_option(&o, rows[i].name, rows[i].value, &why), rows[i].why == NULL);
        assert_int_equal(o.on, rows[i].why == NULL);
        if (rows[i].why)
            assert_string_equal(why, rows[i].why);
    }
}

/* The BEAM that a name means on this host: not that of a container, nor one that says another. */
static void test_is_meant(void **state)
{
    static const struct {
        const char *host;
        bool meant;
    } row[] = {{"localhost", true},   {"127.0.0.1", true},          {"192.0.2.1", false},
               {"127.0.0.1x", false}, {"elsewhere.invalid", false}, {"", false}};
    char here[200];
    struct beam b = {.pid = 1};
    (void)state;
    assert_false(beam_is_meant(&b));
    node_hostname(here, sizeof here, false);
    snprintf(b.name, sizeof b.name, "shop@%s", here);
    assert_true(beam_is_meant(&b));
    b.other_net = true;
    assert_false(beam_is_meant(&b));
    b.other_net = false;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        snprintf(b.name, sizeof b.name, "shop@%s", row[i].host);
        if (beam_is_meant(&b) != row[i].meant)
            fail_msg("%s", b.name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_meant),
        cmocka_unit_test(test_optfile),
        cmocka_unit_test(test_optfile_hostile),
        cmocka_unit_test(test_optfile_argument),
        cmocka_unit_test(test_cred_option),
        cmocka_unit_test(test_etf_reads),
        cmocka_unit_test(test_etf_cut),
        cmocka_unit_test(test_etf_changed),
        cmocka_unit_test(test_etf_limits),
        cmocka_unit_test(test_epmd_parse),
        cmocka_unit_test(test_beam_args),
        cmocka_unit_test(test_beam_args_odd),
        cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_otp_of_erts),
        cmocka_unit_test(test_match_epmd),
        cmocka_unit_test(test_emulator),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_flags_of_the_jit),
        cmocka_unit_test(test_cookie),
        cmocka_unit_test(test_catalog_match),
        cmocka_unit_test(test_catalog_ids),
        cmocka_unit_test(test_catalog_loaded),
        cmocka_unit_test(test_catalog_errors),
        cmocka_unit_test(test_catalog_out_of_memory),
        cmocka_unit_test(test_catalog_suggest),
        cmocka_unit_test(test_names_are_shared_out),
        cmocka_unit_test(test_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
