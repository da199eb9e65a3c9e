/* kfinger.h - functions of an Erlang VM that its file does not name, known by their code.
 *
 * A VM as distributions build it exports most of its functions, but not those that are static, and
 * its table of symbols is stripped. What is known of these (k_erts.list) is made from the VM's
 * source, compiled with a distribution's compiler and options and not stripped
 * (scripts/dev/fingers). It has no addresses: a row is a function's name, and a hash of all its
 * instructions, in which the distances to what lies outside the function are left out, but for one
 * to a function that the file exports: that function's name is counted.
 *
 * A row's hash belongs to one function of its VM alone; one that two functions of a file have is
 * left alone there. In another build a function may have the instructions of one that has another
 * name here (two had the same shape, and one was changed). So names are used only in a file that
 * is such a VM: most of the functions that it does not name are known. Of Debian's OTP 25, of which
 * the rows are, it is 15 in 16; of OTP 27 one in six, and of the functions that both export and
 * that have the same code one in 26 has another name (`fingers compare`). Of x86-64 only. */
#ifndef ET_LINUX_KFINGER_H
#define ET_LINUX_KFINGER_H

#include <stddef.h>
#include <stdint.h>

#include "linux/kelf.h"

/* The instructions of a file, and the functions that it exports. */
struct kfinger_code {
    const unsigned char *bytes; /* n */
    size_t n;
    uint64_t address; /* as linked */
    const struct kfuncs *names;
};

/* Returns the hash of the function of `size` bytes at an address; 0: it does not lie there whole,
 * has instructions that are not known, or is too short to be told from others. */
uint64_t kfinger_of(const struct kfinger_code *c, uint64_t at, uint64_t size);
/* A function that the file does not name, and the row that it is known by. */
struct kfinger_function {
    uint32_t at, size;
    int row;
};
/* Finds the rows of n functions by ascending addresses, all that the file does not name. Each byte
 * is looked at once: a function that begins within another one has no row. Returns how many bytes
 * were looked at. */
size_t kfinger_find(const struct kfinger_code *c, struct kfinger_function *f, size_t n);
/* Leaves the rows that are used: none that two functions have, and none at all unless they are
 * those of at least half of the functions that have a hash. */
void kfinger_settle(struct kfinger_function *f, size_t n, size_t hashed);
/* Returns the number of the row with a hash, KFINGER_NONE if there is none. */
enum { KFINGER_NONE = -1 };
int kfinger_row(uint64_t hash);
/* Returns how many rows there are; the name of one. */
int kfinger_rows(void);
const char *kfinger_name(int row);

#endif
