/* memory.c - what a clause may read and write. The upper half of all addresses is the kernel's; the
 * others, but for those of the map, are the process's. */
#include "rt.h"

/* Copies n bytes from one place to another. The bytes behind CONTENT are zeros. */
RT rt_move(u64 to, u64 from, u64 n)
{
    HIDE(to);
    if (to > K(CONTENT))
        return 0;
    HIDE(n);
    if (n == 0 || n > K(SIZE) - K(CONTENT) - 64)
        return 0;
    HIDE(to);
    HIDE(n);
    bpf_probe_read_kernel(MEM + to, n, AT(from, 1, 0));
    return n;
}

/* Returns the bytes of the program's own memory from this place on; 0: none is there. */
RT rt_room(u64 p, u64 place)
{
    struct kslot *k = SLOT(p, 0);
    u64 off = place - K(STRINGS);
    if (off < K(STRINGS_SIZE))
        return K(STRINGS_SIZE) - off;
    off = place - p - K(SCRATCH);
    if (off < k->scratch)
        return k->scratch - off;
    off = place - K(GLOBALS);
    if (off < K(GLOBALS_SIZE))
        return K(GLOBALS_SIZE) - off;
    off = place - p - K(LOCALS);
    if (off < K(LOCALS_SIZE))
        return K(LOCALS_SIZE) - off;
    off = place - p - K(KSLOT) - __builtin_offsetof(struct kslot, comm);
    const u64 texts = KMEM_COMM + KMEM_ERLPID + 2 * KMEM_NAME_ROOM;
    if (off < texts)
        return texts - off;
    const u64 stacks = sizeof(struct kslot) - __builtin_offsetof(struct kslot, kstack);
    off = place - p - K(KSLOT) - __builtin_offsetof(struct kslot, kstack);
    return off < stacks ? stacks - off : 0;
}

/* Returns the bytes that the program may write from this place on. */
RT rt_writable(u64 p, u64 place)
{
    struct kslot *k = SLOT(p, 0);
    u64 off = place - p - K(SCRATCH);
    if (off < k->scratch)
        return k->scratch - off;
    off = place - K(GLOBALS);
    if (off < K(GLOBALS_SIZE))
        return K(GLOBALS_SIZE) - off;
    off = place - p - K(LOCALS);
    return off < K(LOCALS_SIZE) ? K(LOCALS_SIZE) - off : 0;
}

struct span {
    u64 p, word, last; /* words of scratch */
    u64 borders;
};

static long look_for_border(u32 i, struct span *w)
{
    (void)i;
    u64 word = w->word, bits = GET(u64, w->p + K(BORDERS) + word / 64 * 8, 1) >> (word & 63);
    if ((word | 63) > w->last)
        bits &= (2ul << ((w->last - word) & 63)) - 1;
    w->borders = bits;
    w->word = (word | 63) + 1;
    return bits != 0 || w->word > w->last;
}

/* Returns whether n bytes at this place cross the border of an area (engine's exec_area). */
RT rt_crosses(u64 p, u64 place, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 off = place - p - K(SCRATCH);
    if (k->alloca == 0 || off >= k->scratch || n == 0)
        return 0;
    struct span w = {p, ANY(off / 8 + 1), (off + n - 1) / 8, ZERO};
    if (w.word <= w.last)
        bpf_loop(512, look_for_border, &w, 0); /* 64 words of 8 bytes each */
    return w.borders != 0;
}

/* A value of 1, 2, 4 or 8 bytes (`size`; 128 added: signed) at an address. */
RT rt_load(u64 p, u64 addr, u64 size)
{
    struct kslot *k = SLOT(p, 0);
    u64 n = size & 15, v = 0, shift = 64 - 8 * n;
    if ((addr & (n - 1)) != 0)
        return fault(k, FAULT_BADALIGN, addr);
    if (addr >> 48 == KMEM_TAG >> 48) {
        u64 place = addr - KMEM_TAG;
        if (rt_room(p, place) < n || rt_crosses(p, place, n))
            return fault(k, FAULT_BADADDR, addr);
        if (n == 8)
            v = GET(u64, place, 0);
        else if (n == 4)
            v = GET(u32, place, 0);
        else if (n == 2)
            v = GET(uint16_t, place, 0);
        else
            v = GET(u8, place, 0);
    } else if (n > 8 || ((s64)addr < 0 ? bpf_probe_read_kernel(&v, n, (void *)addr)
                                       : bpf_probe_read_user(&v, n, (void *)addr)) != 0) {
        return fault(k, FAULT_BADADDR, addr);
    }
    return size & 128 ? (u64)((s64)(v << (shift & 63)) >> (shift & 63)) : v;
}

RT rt_store(u64 p, u64 addr, u64 size, u64 v)
{
    struct kslot *k = SLOT(p, 0);
    u64 n = size & 15, place = addr - KMEM_TAG;
    if ((addr & (n - 1)) != 0)
        return fault(k, FAULT_BADALIGN, addr);
    if (addr >> 48 != KMEM_TAG >> 48 || rt_writable(p, place) < n || rt_crosses(p, place, n))
        return fault(k, FAULT_BADADDR, addr);
    if (n == 8)
        PUT(u64, place, v, 0);
    else if (n == 4)
        PUT(u32, place, (u32)v, 0);
    else if (n == 2)
        PUT(uint16_t, place, (uint16_t)v, 0);
    else
        PUT(u8, place, (u8)v, 0);
    return 0;
}

/* Copies n bytes at an address to a place, which the caller has chosen. */
RT rt_bytes(u64 p, u64 to, u64 addr, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    const void *from = (const void *)addr;
    s64 ours = 0;
    if (n == 0)
        return 0;
    if (n > K(SIZE) - K(CONTENT))
        return fault(k, FAULT_BADSIZE, n);
    if (addr >> 48 == KMEM_TAG >> 48) {
        u64 place = addr - KMEM_TAG;
        if (rt_room(p, place) < n || rt_crosses(p, place, n))
            return fault(k, FAULT_BADADDR, addr);
        from = AT(place, 1, 0);
        ours = -1;
    }
    HIDE(to);
    if (to > K(CONTENT))
        return 0;
    HIDE(to);
    HIDE(n);
    if (n == 0 || n > K(SIZE) - K(CONTENT))
        return 0;
    if (((s64)addr | ours) < 0 ? bpf_probe_read_kernel(MEM + to, n, from)
                               : bpf_probe_read_user(MEM + to, n, from))
        return fault(k, FAULT_BADADDR, addr);
    return n;
}

/* Copies n bytes from an address of the program to another. They may overlap. */
RT rt_copy(u64 p, u64 to, u64 from, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 place = to - KMEM_TAG;
    if (n == 0)
        return 0;
    if (from >> 48 == KMEM_TAG >> 48 &&
        (rt_room(p, from - KMEM_TAG) < n || rt_crosses(p, from - KMEM_TAG, n)))
        return fault(k, FAULT_BADADDR, from);
    if (to >> 48 != KMEM_TAG >> 48 || rt_writable(p, place) < n || rt_crosses(p, place, n))
        return fault(k, FAULT_BADADDR, to);
    /* They may overlap: by way of scratch, unless that is too short for it. */
    u64 mark = k->scratch, by = from - to < n || to - from < n ? rt_take(p, n) : 0;
    k->scratch = mark;
    if (k->faulted)
        return 0;
    if (by == 0)
        return rt_bytes(p, place, from, n);
    rt_move(by, from - KMEM_TAG, n);
    return rt_move(place, by, n);
}

/* Copies the text at an address to a place: at most `most` bytes and a NUL. Returns its length. */
RT rt_string(u64 p, u64 to, u64 most, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    const void *from = (const void *)addr;
    u64 n = most + 1, room = ~0ul;
    if (addr >> 48 == KMEM_TAG >> 48) {
        u64 place = addr - KMEM_TAG;
        room = rt_room(p, place);
        if (room == 0)
            return fault(k, FAULT_BADADDR, addr);
        if (room < n)
            n = room;
        from = AT(place, 1, 0);
    }
    HIDE(to);
    if (to > K(CONTENT))
        return 0;
    HIDE(to);
    HIDE(n);
    if (n == 0 || n > K(SIZE) - K(CONTENT))
        return 0;
    HIDE(n);
    s64 got = (s64)addr < 0 || room != ~0ul ? bpf_probe_read_kernel_str(MEM + to, n, from)
                                            : bpf_probe_read_user_str(MEM + to, n, from);
    if (got <= 0)
        return fault(k, FAULT_BADADDR, addr);
    u64 length = (u64)got - 1;
    if ((u64)got == n && room == n) { /* where the memory ends there must be a NUL */
        u8 last = 1;
        bpf_probe_read_kernel(&last, 1, from + n - 1);
        if (last != 0)
            return fault(k, FAULT_BADADDR, addr);
    }
    if (room != ~0ul && rt_crosses(p, addr - KMEM_TAG, length + 1))
        return fault(k, FAULT_BADADDR, addr);
    return length;
}

/* Takes n bytes of scratch; returns their place, 0 after a fault. */
RT rt_take(u64 p, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    u64 used = k->scratch;
    if (used > K(SCRATCH_SIZE) || n > K(SCRATCH_SIZE) - used)
        return fault(k, FAULT_NOSCRATCH, 0);
    k->scratch = used + ((n + 7) & ~7ul);
    return p + K(SCRATCH) + used;
}

/* Makes n bytes, `from` bytes into a text at the end of scratch that begins at `to`, that text.
 * What was taken after it is given back. Returns its address. */
RT rt_cut(u64 p, u64 to, u64 from, u64 n)
{
    struct kslot *k = SLOT(p, 0);
    if (from != 0)
        rt_move(to, to + from, n); /* from lower to higher, so that they may overlap */
    PUT(u8, to + n, 0, 0);
    k->scratch = to - p - K(SCRATCH) + ((n + 8) & ~7ul);
    return KMEM_TAG + to;
}

/* Returns the address of a copy in scratch of the text at a place. */
RT rt_scalar_text(u64 p, u64 place)
{
    struct kslot *k = SLOT(p, 0);
    if (GET(u64, place, 0) == 1)
        return 0;
    u64 to = p + K(SCRATCH) + k->scratch;
    if (k->scratch > K(SCRATCH_SIZE) || K(SCRATCH_SIZE) - k->scratch < K(STRSIZE) + 1)
        return fault(k, FAULT_NOSCRATCH, 0);
    u64 n = K(STRSIZE) + 1;
    if (to > K(CONTENT) || n > K(SIZE) - K(CONTENT))
        return 0;
    HIDE(to);
    s64 got = bpf_probe_read_kernel_str(MEM + to, n, AT(place + 8, 1, 0));
    if (got <= 0)
        return 0;
    k->scratch += ((u64)got + 7) & ~7ul;
    return KMEM_TAG + to;
}

/* Stores the text at an address, of at most `most` bytes, as a scalar variable. */
RT rt_scalar_text_store(u64 p, u64 place, u64 most, u64 addr)
{
    struct kslot *k = SLOT(p, 0);
    if (addr == 0) {
        PUT(u64, place, 1, 0);
        return 0;
    }
    /* It may overlap what it is copied to. */
    u64 mark = k->scratch, to = rt_take(p, most + 1);
    if (to == 0)
        return 0;
    u64 n = rt_string(p, to, most, addr);
    k->scratch = mark;
    if (k->faulted)
        return 0;
    rt_move(place + 8, to, n + 1);
    PUT(u64, place, 0, 0);
    return 0;
}

/* Compares two strings: 0, 1, 2 for less, equal, greater. If one is NULL, as addresses. */
RT rt_scmp(u64 p, u64 a, u64 b)
{
    struct kslot *k = SLOT(p, 1);
    if (a == 0 || b == 0)
        return a < b ? 0 : a == b ? 1 : 2;
    u64 mark = k->scratch, s = rt_take(p, K(STRSIZE) + 9);
    u64 t = rt_take(p, K(STRSIZE) + 9);
    if (s == 0 || t == 0)
        return 1;
    u64 ns = rt_string(p, s, K(STRSIZE), a);
    k->scratch = mark + 2 * ((K(STRSIZE) + 16) & ~7ul); /* b may be in what was taken: no */
    u64 nt = k->faulted ? 0 : rt_string(p, t, K(STRSIZE), b);
    k->scratch = mark;
    if (k->faulted)
        return 1;
    u64 n = (ns < nt ? ns : nt) + 1;
    for (u64 i = 0; i < n && i < KMEM_STRING_MOST; i += 8) {
        u64 x = GET(u64, s + i, 1), y = GET(u64, t + i, 1);
        if (i + 8 > n) {
            u64 mask = ~0ul >> (8 * (i + 8 - n) & 63);
            x &= mask;
            y &= mask;
        }
        if (x != y) {
            x = __builtin_bswap64(x);
            y = __builtin_bswap64(y);
            return x < y ? 0 : 2;
        }
    }
    return 1;
}
