/* test_compile_mixed.c - programs of a node and the kernel: what is left to the node, and what it
 * then computes. */
#include "d_text.h"

#include "engine/engine.h"
#include "lang/encode.h"

/* Compiles a text for both; `pass` gets the node's image, in which each clause that names a probe
 * of Erlang passes alone. */
struct both {
    struct d_text d;
    struct dif_image pass;
};

static bool of_node(void *arg, const struct probe_spec *spec)
{
    (void)arg;
    return strncmp(spec->prov, "erlang", 6) == 0;
}

static void both(struct both *b, const char *text)
{
    uint32_t clause[64], n = 0;
    struct compile_set set[64];
    dif_image_init(&b->pass);
    d_must(&b->d, text);
    dif_image_free(&b->d.img);
    dif_image_init(&b->d.img);
    assert_int_equal(compile_image_mixed(b->d.compile, of_node, NULL, &b->d.img), 0);
    for (uint32_t i = 0; i < b->d.img.nclauses; i++) {
        if (strncmp(dif_str(&b->d.img, b->d.img.clauses[i].prov), "erlang", 6) != 0)
            continue;
        clause[n] = i;
        set[n] = (struct compile_set){&clause[n], 1, compile_reads(&b->d.img, i)};
        n++;
    }
    assert_int_equal(compile_passing(b->d.compile, set, n, &b->pass), 0);
    assert_int_equal(b->pass.nclauses, n);
    if (dif_verify_for(&b->pass, WORD_VM, &b->d.diags) != 0)
        fail_msg("%s: %s", text, b->d.diags.list[0].text);
    assert_int_equal(dif_verify(&b->d.img, &b->d.diags), 0);
}

static void gone(struct both *b)
{
    dif_image_free(&b->pass);
    d_close(&b->d);
}

/* Returns how often a clause of the node's image calls a subroutine. */
static unsigned calls(const struct dif_image *img, uint32_t clause, unsigned subr)
{
    const struct dif_clause *c = &img->clauses[clause];
    unsigned n = 0;
    for (uint32_t i = 0; i < c->ncode; i++) {
        const uint32_t in = img->code[c->code + i];
        n += in >> 24 == DIF_OP_CALL && (in & 65535) == subr;
    }
    return n;
}

/* What the kernel lacks of a text, after what a node computes was left to it; "": nothing. */
static void lacks(const char *text, const char *name)
{
    char whole[512];
    struct both b;
    struct dif_need need = {.name = ""};
    snprintf(whole, sizeof whole, "BEGIN { x = n = 0; } %s", text);
    both(&b, whole);
    dif_lacks(&b.d.img, WORD_KERNEL, &need);
    assert_string_equal(need.name, name);
    gone(&b);
}

static void test_left_to_the_node(void **state)
{
    (void)state;
    lacks("erlang*:m:f:entry { @[term_text(argv[0])] = count(); }", "");
    lacks("erlang*:m:f:entry /term_int(argv[0]) > 5 && x/ { x = 1; }", "");
    lacks("erlang*:m:f:return { x = elapsed; y[erlcaller] = term_int(element(2, retval)) + x; }",
          "");
    lacks("erlang*:m:f:return { printf(\"%s %d\", term_text(retval), mqlen); }", "");
    lacks("erlang*:m:f:return { x = is_atom(retval) ? term_int(argv[1]) : 7; }", "");
    lacks("erlang*:m:f:return { s = strjoin(term_text(retval), \"x\"); }", "");
}

static void test_not_left(void **state)
{
    (void)state;
    lacks("erlang*:m:f:return { this->t = retval; }", "retval");
    lacks("erlang*:m:f:return { x = term_int(element(n, retval)); n = 1; }", "retval");
    lacks("BEGIN { x = mqlen; }", "mqlen");
    lacks("erlang*:::message-send { @[erlname(args[1])] = count(); }", "erlname()");
    lacks("record order {id, price}; erlang*:m:f:entry { x = term_int(argv[0].#order.id); }",
          "argv[]");
    lacks("syscall:::entry { x = mqlen; } erlang*:m:f:entry { x = 1; }", "mqlen");
    lacks("erlang*:m:f:return { x = 10 / term_int(retval); }", ""); /* only the divisor */
    lacks("erlang*:m:f:return { follow(); }", "follow()");
}

static void test_what_the_node_computes(void **state)
{
    struct both b;
    (void)state;
    both(&b, "erlang*:m:f:return { @[erlname, term_text(retval)] = sum(term_int(argv[0])); }"
             "erlang*:::message-send { @n[args[1], arg2, ustack()] = count(); }"
             "syscall:::entry { @s = count(); }");
    /* erlname and two values; two arguments and the stack */
    assert_int_equal(calls(&b.pass, 0, DIF_SUBR_keep), 3);
    assert_int_equal(calls(&b.pass, 1, DIF_SUBR_keep), 1);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(calls(&b.pass, i, DIF_SUBR_pass), 1);
    for (unsigned i = 0; i < PASSING_ARGUMENTS; i++)
        assert_int_equal(dif_reads_argument(&b.pass, 1, i), i == 1 || i == 2);
    gone(&b);
}

/* A predicate that a node can evaluate is in its program; of two clauses both must be such. */
static void test_predicates(void **state)
{
    const struct {
        const char *text;
        bool there;
    } rows[] = {
        {"erlang*:m:f:entry /arg2 > 5/ { x = 1; }", true},
        {"erlang*:m:f:entry /term_int(argv[0]) > 5 && probefunc != \"g/1\"/ { x = 1; }", true},
        {"erlang*:m:f:entry /args[0] == \"<0.1.0>\" || erlname == \"a\"/ { x = 1; }", true},
        {"erlang*:m:f:entry /arg2 > 5 && self->x/ { self->x = 1; }", false},
        {"erlang*:m:f:entry /timestamp > 5/ { x = 1; }", false},
        {"erlang*:m:f:entry /arg2 % 5 == 0/ { x = 1; }", false}, /* others of its kind fault */
        {"erlang*:m:f:entry /copyinstr(arg2) == \"a\"/ { x = 1; }", false},
        {"erlang*:m:f:entry { x = 1; }", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct both b;
        both(&b, rows[i].text);
        if ((b.pass.clauses[0].npred > 0) != rows[i].there)
            fail_msg("%s", rows[i].text);
        gone(&b);
    }
    struct both b;
    struct compile_set set = {(const uint32_t[]){0, 1}, 2, 0};
    both(&b, "erlang*:m:f:entry /arg2 > 5/ { x = 1; } erlang*:m:f:entry /arg3 < 2/ { x = 2; }"
             "erlang*:m:f:entry { x = 3; }");
    for (uint32_t n = 1; n <= 3; n++) {
        set = (struct compile_set){(const uint32_t[]){0, 1, 2}, n, 0};
        dif_image_free(&b.pass);
        dif_image_init(&b.pass);
        assert_int_equal(compile_passing(b.d.compile, &set, 1, &b.pass), 0);
        assert_int_equal(dif_verify_for(&b.pass, WORD_VM, &b.d.diags), 0);
        assert_int_equal(b.pass.clauses[0].npred > 0, n < 3);
    }
    gone(&b);
}

/* Texts for which a clause's scratch has no room for certain. */
static void test_texts(void **state)
{
    char text[2048] = "erlang*:m:f:entry { ";
    struct compile_set set = {(const uint32_t[]){0}, 1, 0};
    (void)state;
    for (int i = 0; i < 9; i++) {
        struct d_text d;
        struct dif_image pass;
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "@[%d, term_text(argv[%d])] = count(); ", i, i);
        char whole[2100];
        snprintf(whole, sizeof whole, "%s}", text);
        d_must(&d, whole);
        dif_image_free(&d.img);
        dif_image_init(&d.img);
        dif_image_init(&pass);
        assert_int_equal(compile_image_mixed(d.compile, of_node, NULL, &d.img), 0);
        assert_int_equal(compile_passing(d.compile, &set, 1, &pass), i < 8 ? 0 : ET_ECOMPILE);
        dif_image_free(&pass);
        d_close(&d);
    }
}

static void test_too_many(void **state)
{
    char text[8192] = "BEGIN { x = 0; } erlang*:m:f:entry { x = 0";
    struct d_text d;
    (void)state;
    for (int i = 0; i < 61; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " + (x + term_int(argv[%d]))", i);
    snprintf(text + strlen(text), sizeof text - strlen(text), "; }");
    d_must(&d, text);
    dif_image_free(&d.img);
    dif_image_init(&d.img);
    assert_int_equal(compile_image_mixed(d.compile, of_node, NULL, &d.img), ET_ECOMPILE);
    assert_string_equal(d.diags.list[d.diags.count - 1].tag, "D_MIXED_MANY");
    d_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_to_the_node),
        cmocka_unit_test(test_not_left),
        cmocka_unit_test(test_what_the_node_computes),
        cmocka_unit_test(test_predicates),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
