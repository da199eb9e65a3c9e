/* image.c - fuzz target: bytes that claim to be a program image. Decoder, disassembler, verifier.
 *
 * Half of the inputs are changed as images, half as bytes, with the length in the header put right.
 * What was decoded gives the same bytes when it is encoded again; what was accepted can be printed.
 */
#include "fuzz.h"
#include "mutate.h"

#include "base/err.h"
#include "lang/encode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags d;
    struct dif_image img;
    diags_init(&d);
    dif_image_init(&img);
    int err = dif_decode(&img, data, size, &d);
    must(err == 0 || err == ET_EIMAGE || err == ET_ENOMEM, "an error is one of those promised", &d);
    if (err == 0) {
        struct buf text = BUF_INIT, bytes = BUF_INIT;
        must(dif_encode(&img, &bytes) == 0 && bytes.len == size &&
                 memcmp(bytes.data, data, size) == 0,
             "it is the same when encoded", &d);
        err = dif_verify(&img, &d);
        must(err == 0 || err == ET_EVERIFY || err == ET_ENOMEM, "an error is one of those promised",
             &d);
        if (err == 0)
            dif_disasm(&img, &text);
        buf_free(&text);
        buf_free(&bytes);
    }
    must((err == 0) == (d.errors == 0), "an error has a diagnostic", &d);
    show(&d);
    dif_image_free(&img);
    diags_free(&d);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    if (seed % 2 == 0)
        return mutate(data, size, max, seed / 2, false);
    size = LLVMFuzzerMutate(data, size, max);
    image_set_length(data, size);
    return size;
}
