/* made.c - see made.h. */
#include "made.h"

#include "nif.h"

enum {
    TERMS_MOST = 600, /* of one event */
    MANY = 9000,      /* elements of a long list: more than any look may pass */
    DEEP = 5000,
    DEPTH_MOST = 6,
    ATOMS_NEW = 3000
};

static ERL_NIF_TERM integer(struct made *m, unsigned what)
{
    static const int64_t edges[] = {0,         1,         -1,         255,       256,
                                    1023,      INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MIN,
                                    1ll << 58, 1ll << 59, -1};
    if (what % 3 == 0)
        return nif_int((int64_t)input_bytes(&m->in, 8));
    if (what % 3 == 1)
        return nif_int(edges[input_byte(&m->in) % (sizeof edges / sizeof *edges)]);
    return nif_int(input_byte(&m->in));
}

static ERL_NIF_TERM an_atom(struct made *m)
{
    size_t n = input_byte(&m->in);
    if (n < 200 || nif_natoms() > ATOMS_NEW)
        return nif_atom_at((unsigned)input_bytes(&m->in, 2) % nif_natoms());
    n = (n - 200) * 19; /* up to 1045 bytes, which may be of UTF-8 */
    n = n < m->in.n ? n : m->in.n;
    ERL_NIF_TERM t = nif_atom(m->in.p, n);
    m->in.p += n;
    m->in.n -= n;
    return t;
}

static ERL_NIF_TERM a_binary(struct made *m, unsigned what)
{
    size_t n = input_byte(&m->in);
    if (what % 8 == 0)
        return what % 16 ? nif_shifted(n * 1024) : nif_binary(NULL, n * 4096, false);
    n = n < m->in.n ? n : m->in.n;
    ERL_NIF_TERM t = nif_binary(m->in.p, n, what % 8 == 1);
    m->in.p += n;
    m->in.n -= n;
    return t;
}

static ERL_NIF_TERM a_list(struct made *m, unsigned what, unsigned depth)
{
    unsigned n = what % 7;
    ERL_NIF_TERM list = what % 5 == 0 ? made_any(m, depth + 1) : nif_nil();
    while (n-- > 0)
        list = nif_cons(made_any(m, depth + 1), list);
    return list;
}

/* Lists that are longer or deeper than anything may look at. */
static ERL_NIF_TERM a_large_list(struct made *m, unsigned what, unsigned depth)
{
    const bool nested = what % 3 == 0;
    m->terms += TERMS_MOST / 4;
    return nif_cells(made_any(m, depth + 1), nested ? DEEP : MANY, nested);
}

ERL_NIF_TERM made_tuple(struct made *m, unsigned n, unsigned depth)
{
    ERL_NIF_TERM e[16];
    for (unsigned i = 0; i < n; i++)
        e[i] = made_any(m, depth + 1);
    return nif_tuple(e, n);
}

static ERL_NIF_TERM a_map(struct made *m, unsigned what, unsigned depth)
{
    ERL_NIF_TERM e[80];
    unsigned n = what % 8 == 0 ? 33 + what % 7 : what % 6;
    for (unsigned i = 0; i < n; i++) {
        e[2 * i] = what % 2 ? made_any(m, depth + 1) : nif_int(i);
        e[2 * i + 1] = i < 4 ? made_any(m, depth + 1) : nif_int(i);
    }
    return nif_map(e, n);
}

static ERL_NIF_TERM a_record(struct made *m, unsigned what, unsigned depth)
{
    enum { FIELDS = 4, ODDITIES = 10, MOSTLY = 3 };
    ERL_NIF_TERM e[2 * FIELDS];
    const unsigned n = what % (FIELDS + 1);
    for (unsigned i = 0; i < n; i++) {
        e[2 * i] = an_atom(m);
        e[2 * i + 1] = made_any(m, depth + 1);
    }
    return nif_record(an_atom(m), an_atom(m), e, n, what % MOSTLY ? 0 : what / 8 % ODDITIES);
}

ERL_NIF_TERM made_any(struct made *m, unsigned depth)
{
    unsigned kind = input_byte(&m->in), what = kind >= 128 ? input_byte(&m->in) : kind;
    if (++m->terms > TERMS_MOST || depth > DEPTH_MOST)
        return nif_nil();
    if (kind >= 240)
        return what % 2 ? a_record(m, what / 2, depth) : nif_unknown(what / 4, what % 4 == 0);
    switch (kind % 16) {
    case 0:
    case 1: return an_atom(m);
    case 2:
    case 3: return integer(m, what);
    case 4: return what % 2 ? nif_uint(input_bytes(&m->in, 8)) : nif_bignum();
    case 5: return nif_float((double)input_bytes(&m->in, 8) * (what % 2 ? 1e290 : 1e-300));
    case 6: return nif_pid(input_byte(&m->in), what % 4 != 0);
    case 7: return nif_port(input_byte(&m->in), what % 4 != 0);
    case 8: return what % 2 ? nif_ref(input_byte(&m->in)) : nif_fun();
    case 9:
    case 10: return a_binary(m, what);
    case 11: return a_list(m, what, depth);
    case 12: return what % 4 == 0 ? a_large_list(m, what, depth) : a_list(m, what, depth);
    case 13:
    case 14: return made_tuple(m, what % 8, depth);
    default: return a_map(m, what, depth);
    }
}
