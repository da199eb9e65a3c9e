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
    for (size_t i = 0; i < t.nfuncs; i++) {
        must(i == 0 || t.func[i - 1].at <= t.func[i].at, "functions ascend", NULL);
        must(t.func[i].size > 0 && t.func[i].at <= UINT32_MAX - t.func[i].size,
             "a function has an end", NULL);
    }
    must(t.nfuncs <= KCFI_FUNCS, "functions are limited", NULL);
    must(t.followed <= KCFI_FOLLOWED * size, "work is limited", NULL);
    kcfi_free(&t);
    return 0;
}
