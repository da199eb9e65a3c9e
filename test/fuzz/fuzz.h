/* fuzz.h - what the fuzz targets share.
 *
 * A target is one file: LLVMFuzzerTestOneInput gets bytes from libFuzzer and gives them to a part
 * of erltrace that has to stand any bytes. The sanitizers watch the memory; what else must hold is
 * said with must(), which ends the run, so that libFuzzer keeps the input. */
#ifndef ET_TEST_FUZZ_H
#define ET_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "dif/dif.h"
#include "util/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Ends the run, with the diagnostics that there are, unless `ok`. */
static inline void must(int ok, const char *what, const struct diags *d)
{
    struct buf b = BUF_INIT;
    if (ok)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    for (size_t i = 0; d != NULL && i < d->count; i++)
        diag_render(d, &d->list[i], &b);
    fputs(buf_str(&b), stderr);
    abort();
}

/* Every diagnostic can be shown. */
static inline void show(const struct diags *d)
{
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < d->count; i++) {
        diag_render(d, &d->list[i], &b);
        diag_render_json(&d->list[i], &b);
    }
    must(!b.oom && (d->count == 0 || b.len > 0), "a diagnostic has a text", NULL);
    buf_free(&b);
}

/* Takes bytes off the front of an input; zeros when there are no more. */
struct input {
    const uint8_t *p;
    size_t n;
};

static inline uint64_t input_bytes(struct input *in, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n && in->n > 0; i++, in->p++, in->n--)
        v |= (uint64_t)*in->p << (8 * i);
    return v;
}

static inline uint8_t input_byte(struct input *in)
{
    return (uint8_t)input_bytes(in, 1);
}

/* A size for an option: mostly SIZE_AS_IT_IS, else one of those where arithmetic goes wrong, the
 * least and the most that there are among them. */
#define SIZE_AS_IT_IS UINT64_C(0x5a5a5a5a5a5a5a5a)
static inline uint64_t a_size(struct input *in)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     7,
                                     8,
                                     63,
                                     64,
                                     255,
                                     4095,
                                     4096,
                                     4097,
                                     65535,
                                     65536,
                                     1u << 20,
                                     1u << 24,
                                     (1u << 31) - 1,
                                     1u << 31,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 35) - 1,
                                     UINT64_C(1) << 35,
                                     (UINT64_C(1) << 35) + 8,
                                     UINT64_C(1) << 40,
                                     UINT64_C(1) << 56,
                                     (UINT64_C(1) << 56) + 1,
                                     UINT64_C(1) << 63,
                                     UINT64_MAX - 7,
                                     UINT64_MAX};
    const uint8_t what = input_byte(in);
    return what < 192 ? SIZE_AS_IT_IS : edges[what % (sizeof edges / sizeof *edges)];
}

#endif
