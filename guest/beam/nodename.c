/* nodename.c - see nodename.h.
 *
 * The table uses open addressing by the node's number. A compare-and-swap marks a slot as taken,
 * then its name is written, and only then its number: a thread that reads the number also sees the
 * name. Slots are never freed. An atom lives as long as the VM. */
#include "beam/nodename.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "beam/probe/term.h"
#include "beam/probe/term_read.h"

enum { WINDOW = 8 };
#define TAKEN UINT64_MAX

static struct {
    _Atomic uint64_t number; /* 0: free, TAKEN: being filled */
    ERL_NIF_TERM name;
} slots[NODENAME_MAX];

/* Returns the atom that the encoded bytes name. Names that are not ASCII are not looked up. */
static bool atom_of(ErlNifEnv *env, const unsigned char *p, size_t n, ERL_NIF_TERM *node)
{
    enum { ATOM = 100, SMALL_ATOM = 115, ATOM_UTF8 = 118, SMALL_ATOM_UTF8 = 119 };
    size_t head = n > 0 && (p[0] == ATOM || p[0] == ATOM_UTF8)               ? 3
                  : n > 0 && (p[0] == SMALL_ATOM || p[0] == SMALL_ATOM_UTF8) ? 2
                                                                             : 0;
    if (head == 0 || n < head)
        return false;
    size_t len = head == 3 ? (size_t)p[1] << 8 | p[2] : p[1];
    if (len > n - head)
        return false;
    for (size_t i = 0; i < len; i++)
        if (p[head + i] >= 128)
            return false;
    return enif_make_existing_atom_len(env, (const char *)p + head, len, node, ERL_NIF_LATIN1);
}

bool nodename_encoded(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *node)
{
    enum { VERSION = 131, PID = 103, NEW_PID = 88, NEW_REFERENCE = 114, NEWER_REFERENCE = 90 };
    ErlNifBinary bin;
    if (!enif_term_to_binary(env, t, &bin))
        return false;
    size_t at = bin.size < 2 || bin.data[0] != VERSION                           ? 0
                : bin.data[1] == PID || bin.data[1] == NEW_PID                   ? 2
                : bin.data[1] == NEW_REFERENCE || bin.data[1] == NEWER_REFERENCE ? 4
                                                                                 : 0;
    bool ok = at > 0 && bin.size > at && atom_of(env, bin.data + at, bin.size - at, node);
    enif_release_binary(&bin);
    return ok;
}

/* Returns the node's number: 8745 for <8745.89.0> and #Ref<8745.1.2.3>; 0 for a local term, and for
 * one that has no node: only what has one may be encoded. */
static uint64_t number_of(ErlNifEnv *env, ERL_NIF_TERM t)
{
    char text[TERM_TEXT];
    const int type = read_type(env, t);
    if (type != ERL_NIF_TERM_TYPE_PID && type != ERL_NIF_TERM_TYPE_PORT &&
        type != ERL_NIF_TERM_TYPE_REFERENCE)
        return 0;
    term_simple(env, t, text, sizeof text);
    const char *p = strchr(text, '<');
    uint64_t number;
    return p && *p++ == '<' && number_read(&p, 10, &number) ? number : 0;
}

bool nodename_of(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *node)
{
    uint64_t number = number_of(env, t);
    if (number == 0)
        return false;
    for (uint64_t i = 0; i < WINDOW; i++) {
        size_t at = (size_t)((number + i) % NODENAME_MAX);
        uint64_t is = atomic_load_explicit(&slots[at].number, memory_order_acquire);
        if (is == number) {
            *node = slots[at].name;
            return true;
        }
        if (is == 0) {
            if (!nodename_encoded(env, t, node))
                return false;
            if (atomic_compare_exchange_strong(&slots[at].number, &is, TAKEN)) {
                slots[at].name = *node;
                atomic_store_explicit(&slots[at].number, number, memory_order_release);
            }
            return true;
        }
    }
    return nodename_encoded(env, t, node);
}
