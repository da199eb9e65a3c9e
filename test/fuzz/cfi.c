/* cfi.c - fuzz target: the section of a traced program that says how its functions leave their
 * frames. The first bytes are the address at which it is linked. */
#include "fuzz.h"

#include "linux/kcfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kcfi t;
    const size_t head = size < 4 ? size : 4;
    uint32_t address = 0;
    memcpy(&address, data, head);
    must(kcfi_read(&t, data + head, size - head, address), "memory is enough", NULL);
    for (size_t i = 0; i < t.n; i++) {
        must(i == 0 || t.row[i - 1].pc < t.row[i].pc, "addresses ascend", NULL);
        must(t.row[i].kind <= KFRAME_END, "a row is of a kind", NULL);
    }
    must(t.n <= KCFI_ROWS, "rows are limited", NULL);
    kcfi_free(&t);
    return 0;
}
