/* unwind.c - the C frames of a process, of programs with and without frame pointers.
 * c_src/linux/kcfi.h tells what is known of them. */
#include "rt.h"

#define KUNWIND     (K(UNWIND))
#define SPACE_AT(m) __builtin_offsetof(struct kspace, m)

/* Returns the place of what is known of a process's files; 0: nothing. */
RT rt_space(u64 tgid)
{
    return cell_of(KUNWIND + __builtin_offsetof(struct kunwind, space), sizeof(struct kspace),
                   KMEM_SPACES, tgid);
}

/* Asks this process's owner to look at a process. */
INLINE void want(u64 tgid)
{
    u64 at = KUNWIND + __builtin_offsetof(struct kunwind, wanted) + tgid % KMEM_WANTED * 4;
    if (tgid != 0 && at <= K(SIZE) - 4)
        *(volatile u32 *)(MEM + at) = (u32)tgid;
}

struct halving {
    u64 base, stride, wide; /* the array: keys of 4 bytes, or wide ones of 8 */
    u64 lo, hi, key;
};

static long halve(u32 i, struct halving *w)
{
    (void)i;
    if (w->lo >= w->hi)
        return 1;
    u64 mid = (w->lo + w->hi) / 2, at = w->base + mid * w->stride;
    u64 key = w->wide ? GET(u64, at, 1) : GET(u32, at, 1);
    if (key <= w->key)
        w->lo = mid + 1;
    else
        w->hi = mid;
    return 0;
}

/* Returns how many of n keys, which ascend, are not above one: most of 2^20. */
INLINE u64 not_above(u64 base, u64 stride, u64 wide, u64 n, u64 key)
{
    struct halving w = {base, stride, wide, ZERO, ANY(n), key};
    bpf_loop(21, halve, &w, 0);
    return w.lo;
}

/* A walk from frame to frame. */
struct unwinding {
    u64 p, space, beam; /* what is known of its files, and of its VM */
    u64 code, size;     /* where compiled Erlang code lies */
    u64 ip, sp, bp;     /* registers of the frame */
    u64 n, most;        /* frames that are written */
    u64 erlang;         /* 1: ended in compiled Erlang code, at ip */
    u64 ended;          /* 1: ended where the thread began */
};

/* Returns the place of the row for an address; 0: it lies in no file that is known, 1: that file
 * has no rows for it. */
RT rt_row(u64 space, u64 pc)
{
    u64 n = GET(u32, space + SPACE_AT(n), 0);
    u64 i = not_above(space + SPACE_AT(map), sizeof(struct kmapping), 1, n, pc);
    if (i == 0 || i > KMEM_MAPPINGS)
        return 0;
    struct kmapping *m = AT(space + SPACE_AT(map) + (i - 1) * sizeof *m, sizeof *m, 0);
    if (pc >= m->end)
        return 0;
    u64 rows =
        KUNWIND + __builtin_offsetof(struct kunwind, row) + (u64)m->row * sizeof(struct kframe);
    u64 k = not_above(rows, sizeof(struct kframe), 0, m->rows, pc - m->base);
    return k == 0 || k > KMEM_ROWS ? 1 : rows + (k - 1) * sizeof(struct kframe);
}

/* Goes to the caller by the frame pointer. Returns whether there is one. */
INLINE int by_frame_pointer(struct unwinding *w)
{
    if (w->bp < w->sp || (w->bp & 7) != 0)
        return 0;
    u64 pair[2] = {0, 0};
    if (bpf_probe_read_user(pair, sizeof pair, (void *)w->bp) != 0)
        return 0;
    w->sp = w->bp + 16;
    w->bp = pair[0];
    w->ip = pair[1];
    return 1;
}

static long unwind(u32 i, struct unwinding *w)
{
    u64 ip = w->ip;
    if (ip - w->code < w->size && rt_compiled(w->beam, ip)) {
        w->erlang = 1;
        return 1;
    }
    if (ip == 0) {
        w->ended = 1;
        return 1;
    }
    if (i > 0 && ip < KMEM_LOWEST) /* what a register led to was no frame */
        return 1;
    PUT(u64, w->p + K(KSLOT) + __builtin_offsetof(struct kslot, ustack) + w->n * 8, ip, 1);
    w->n++;
    if (w->n >= w->most)
        return 1;
    /* A return address may be the first one behind its function. */
    u64 at = rt_row(w->space, i == 0 ? ip : ip - 1);
    if (at <= 1) {
        if (at == 0)
            want(own_process());
        return !by_frame_pointer(w);
    }
    struct kframe *r = AT(at, sizeof *r, 1);
    u32 kind = r->kind;
    s64 rbp = r->rbp;
    u64 cfa = (u64)(s64)r->cfa;
    if (kind == KFRAME_RSP)
        cfa += w->sp;
    else if (kind == KFRAME_RBP)
        cfa += w->bp;
    else if (kind == KFRAME_PLT)
        cfa = w->sp + 8 + ((ip & 15) >= 11 ? 8 : 0);
    else if (kind == KFRAME_NONE)
        return !by_frame_pointer(w);
    else {
        w->ended = kind == KFRAME_END;
        return 1;
    }
    if (cfa <= w->sp || bpf_probe_read_user(&w->ip, 8, (void *)(cfa - 8)) != 0)
        return 1;
    if (rbp == KFRAME_LOST)
        w->bp = 0;
    else if (rbp != 0)
        w->bp = word(cfa + (u64)rbp);
    w->sp = cfa;
    return 0;
}

/* Replaces the frames of ustack() by those that are found with what is known of the process's
 * files, if there is anything. */
RT rt_unwind(u64 p, u64 most)
{
    struct kslot *k = SLOT(p, 0);
    u64 tgid = own_process();
    k->unwound = 0;
    k->ended = 0;
    k->compiled = 0;
    if (KUNWIND == 0 || k->nustack == 0 || most > KMEM_FRAMES)
        return 0;
    if (user_register(USER_CS) == USER_CS_32) /* its frames are smaller: the kernel knows them */
        return 0;
    u64 space = rt_space(tgid);
    if (space == 0) {
        want(tgid);
        return 0;
    }
    struct unwinding w = {p,
                          space,
                          ZERO,
                          ZERO,
                          ZERO,
                          user_register(USER_IP),
                          user_register(USER_SP),
                          user_register(USER_BP),
                          ZERO,
                          ANY(most),
                          ZERO,
                          ZERO};
    u64 beam = rt_beam(tgid);
    if (beam != 0) {
        struct kbeam *v = AT(beam, sizeof(struct kbeam), 0);
        w.beam = beam;
        w.code = v->code;
        w.size = v->code_end - v->code;
    }
    bpf_loop(KMEM_FRAMES, unwind, &w, 0);
    u64 n = w.n;
    if (w.erlang)
        k->compiled = w.ip;
    if (n == 0) { /* compiled code runs: its own address is the only frame */
        n = 1;
        k->compiled = 0;
    }
    if (n > KMEM_FRAMES)
        return 0;
    k->nustack = n;
    k->ended = w.ended;
    k->unwound = 1;
    PUT(u64, p + K(KSLOT) + __builtin_offsetof(struct kslot, ustack) + n * 8, 0, 0);
    return 0;
}
