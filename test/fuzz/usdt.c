/* usdt.c - fuzz target: what a traced program's file says of the probes that it defines, and its
 * code. The first byte says which. */
#include "fuzz.h"

#include "linux/kfinger.h"
#include "linux/kinsn.h"
#include "linux/kmem.h"
#include "linux/kusdt.h"

static void take_args(const char *text)
{
    struct kusdt_arg arg[KMEM_ARGS];
    struct arena mem;
    bool oom = false;
    arena_init(&mem);
    const size_t n = kusdt_args(text, arg, KMEM_ARGS, &mem, &oom);
    must(!oom && n <= KMEM_ARGS, "arguments are limited", NULL);
    for (size_t i = 0; i < n; i++)
        must(arg[i].type != NULL && arg[i].value.n > 0 && arg[i].value.n <= KVALUE_STEPS,
             "an argument has a type and a value", NULL);
    arena_free(&mem);
}

static void take_note(void *arg, const struct kusdt_note *note)
{
    (void)arg;
    must(note->prov[0] != '\0' && note->name[0] != '\0', "a probe has a name", NULL);
    take_args(note->args);
}

/* The code as a function that is to be known by it, of a file that has two names. */
static void take_function(const uint8_t *code, size_t n)
{
    enum { AT = 0x1000 };
    struct kfuncs names = {.n = 0};
    kfuncs_add(&names, AT, 8, "first", 5, 0);
    kfuncs_add(&names, AT + 16, 0, "second", 6, 0);
    kfuncs_sort(&names);
    const struct kfinger_code c = {code, n, AT, &names};
    for (uint64_t from = 0; from < 8; from++) {
        const uint64_t hash = kfinger_of(&c, AT + from, n);
        must(from == 0 || hash == 0, "a function lies within the code", NULL);
        kfinger_of(&c, AT + from, n - from);
        must(kfinger_row(hash) < kfinger_rows(), "a row is one of the table", NULL);
    }
    struct kfinger_function every[32]; /* one within another */
    enum { EVERY = sizeof every / sizeof *every };
    for (uint32_t i = 0; i < EVERY; i++)
        every[i] = (struct kfinger_function){AT + i, (uint32_t)n / 2, KFINGER_NONE};
    must(kfinger_find(&c, every, EVERY) <= n, "each byte is looked at once", NULL);
    for (size_t at = 0, length, place; at < n; at += length) {
        bool jumps;
        length = kinsn_distance(code + at, n - at, &place, &jumps);
        must(length <= n - at && (place == 0 || place + 4 <= length),
             "a distance lies within the instruction", NULL);
        if (length == 0)
            break;
    }
    kfuncs_free(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t before;
    if (size == 0)
        return 0;
    const uint8_t *rest = data + 1;
    const size_t n = size - 1;
    switch (data[0] % 3) {
    case 0: kusdt_read(rest, n, data[0], take_note, NULL); break;
    case 1:
        for (uint64_t at = 0; at <= n && at < 64; at++) {
            const bool begins = kinsn_begins(rest, n, at, &before);
            must(before <= at && (!begins || at < n), "places are within the code", NULL);
        }
        kinsn_doubtful(rest, n);
        take_function(rest, n);
        break;
    default: {
        char *text = strndup((const char *)rest, n);
        must(text != NULL, "memory is enough", NULL);
        take_args(text);
        free(text);
    }
    }
    return 0;
}
