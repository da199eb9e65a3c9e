/* What header generation is told about the providers that programs define. */
#include "d_text.h"

static int note(void *arg, const struct compile_probe *p)
{
    char *out = arg;
    size_t n = strlen(out);
    n += (size_t)sprintf(out + n, "%s:%s:%s(", p->provider, p->name ? p->name : "-",
                         p->ident ? p->ident : "-");
    for (size_t i = 0; i < p->nargs; i++)
        n += (size_t)sprintf(out + n, "%s%s", i ? ", " : "", p->arg[i]);
    sprintf(out + n, ") %s/%s\n", p->provider_attr.name, p->args_attr.class);
    return strcmp(p->provider, "last") == 0 ? 7 : 0;
}

static void test_definitions(void **state)
{
    (void)state;
    struct d_text d;
    char out[1024] = "";
    d_open(&d);
    assert_int_equal(0, d_add(&d, COMPILE_LIBRARY, "provider ours { probe p(); };", NULL));
    assert_int_equal(
        0, d_add(&d, COMPILE_SCRIPT,
                 "struct job { int n; };\ntypedef struct info { int n; } info_t;\n"
                 "translator info_t < struct job *j > { n = j->n; };\n"
                 "provider shop {\n"
                 "  probe order__start(char *item, int n, string s, uint64_t);\n"
                 "  probe a_b___c(struct job *j, int x[4]) : (info_t *j);\n"
                 "  probe none(void);\n"
                 "};\n"
                 "provider bare { };\n"
                 "provider shop { probe none(); probe a_b___c(struct job *j, int x[4]) : (info_t "
                 "*j);\n"
                 "  probe order__start(char *, int, string, uint64_t); };\n"
                 "provider last { probe p(); };\nprovider never { probe p(); };\n"
                 "#pragma D attributes Evolving/Stable/ISA provider shop provider\n"
                 "#pragma D attributes Evolving/Stable/ISA provider shop args\n",
                 NULL));
    assert_int_equal(7, compile_probes(d.compile, note, out));
    assert_string_equal(
        "shop:order-start:order__start(char *, int, char *, uint64_t) Evolving/ISA\n"
        "shop:a_b-_c:a_b___c(struct job *, int [4]) Evolving/ISA\n"
        "shop:none:none() Evolving/ISA\n"
        "bare:-:-() Unstable/Common\n"
        "last:p:p() Unstable/Common\n",
        out);
    d_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
