/* erlang.c - the functions that an Erlang process is in. c_src/linux/kbeam.h tells how the stack is
 * found.
 *
 * A process's stack is an array of words, terms and return addresses, from its top up to its end. A
 * return address lies in the code that the VM has compiled, and its lowest bits are 0, which no
 * term's are. While compiled code runs, the stack's top is the stack pointer; while C runs for the
 * process, the VM has stored the top in the process. */
#include "rt.h"

#define MEMBER_AT(m) (K(KSLOT) + __builtin_offsetof(struct kslot, m))
#define CHUNK_BYTES  (KMEM_CHUNK * 8)
#define LOST_NS      1000000000ul

/* Reads up to KMEM_CHUNK words of the process's memory, at most n bytes. */
INLINE long read_chunk(struct kslot *k, u64 at, u64 n)
{
    if (n > CHUNK_BYTES)
        n = CHUNK_BYTES;
    HIDE(n);
    if (n == 0 || n > CHUNK_BYTES)
        return 1;
    return bpf_probe_read_user(k->chunk, n, (void *)at);
}

struct frames {
    u64 p, at, end, beam, code, size;
    u64 to, n, most; /* where the addresses go, how many there are, and may be */
    u64 i;
};

static long look_for_frame(u32 i, struct frames *w)
{
    (void)i;
    struct kslot *k = SLOT(w->p, 1);
    u64 in = w->i % KMEM_CHUNK;
    if (in == 0 && read_chunk(k, w->at, w->end - w->at) != 0)
        return 1;
    u64 v = GET(u64, w->p + MEMBER_AT(chunk) + in * 8, 1);
    if ((v & 3) == 0 && v - w->code < w->size && rt_compiled(w->beam, v)) {
        PUT(u64, w->to + w->n * 8, v, 1);
        w->n++;
    }
    w->i++;
    w->at += 8;
    return w->at >= w->end || w->n >= w->most;
}

/* Writes the addresses of the Erlang process's frames, of which n are there already, and a 0, to a
 * place: at most `most`, and no more than the array there holds. Returns how many there are now; n:
 * no process runs, or its stack is not known. */
RT rt_frames(u64 p, u64 to, u64 n, u64 most)
{
    struct kslot *k = SLOT(p, n);
    u64 process = rt_process(p);
    if (process == 0 || most > KMEM_FRAMES)
        return n;
    struct kbeam *v = AT(k->beam, sizeof(struct kbeam), n);
    u64 code = v->code, size = v->code_end - code;
    if (v->end == 0 || size == 0)
        return n;
    u64 ip = user_register(USER_IP), end = word(process + v->end), top = word(process + v->stop);
    if (ip - code < size && rt_compiled(k->beam, ip)) {
        /* Compiled code may have left the Erlang stack for a moment, or be about to enter that of
         * the next process. The word before the end of a process's memory says where it begins. */
        u64 sp = user_register(USER_SP), start = word(process + v->end - 8);
        top = start <= top && start <= sp && sp <= end ? sp : top;
        if (n < most) {
            PUT(u64, to + n * 8, ip, n);
            n++;
        }
    }
    end -= 8; /* its last word is where a process goes to end */
    struct frames w = {p,         ANY(top), ANY(end), ANY(k->beam), ANY(code),
                       ANY(size), to,       ANY(n),   most,         ZERO};
    if ((top & 7) == 0 && top < end && end - top < 1ul << 32 && n < most)
        bpf_loop(KMEM_ERLSTACK, look_for_frame, &w, 0);
    n = w.n;
    if (n <= most)
        PUT(u64, to + n * 8, 0, n);
    return n;
}

/* Appends where C was called from, in compiled code, to the n frames of ustack() that stay; returns
 * how many there are now. */
INLINE u64 add_compiled(u64 p, struct kslot *k, u64 n, u64 most)
{
    u64 at = p + MEMBER_AT(ustack);
    if (k->compiled == 0 || n == 0 || n >= most)
        return n;
    PUT(u64, at + n * 8, k->compiled, n);
    PUT(u64, at + (n + 1) * 8, 0, n);
    return n + 1;
}

/* Puts the frames of the Erlang process, if one runs here, behind the C frames of ustack(). Where
 * these have not been unwound only the first one stays: without frame pointers, what the kernel
 * takes for the others is not. A scheduler that runs no process is called by compiled code too. */
RT rt_erlang_frames(u64 p, u64 most)
{
    struct kslot *k = SLOT(p, 0);
    u64 n = k->nustack, first = k->ustack[0];
    u64 process = rt_process(p);
    if (n == 0 || most < 2 || most > KMEM_FRAMES)
        return 0;
    if (process == 0) {
        k->nustack = add_compiled(p, k, n, most);
        return 0;
    }
    struct kbeam *v = AT(k->beam, sizeof(struct kbeam), 0);
    if (v->end == 0 || v->code_end == 0)
        return 0;
    if (first - v->code < v->code_end - v->code && rt_compiled(k->beam, first))
        n = 0;
    else if (k->unwound == 0)
        n = 1;
    else if (k->ended && n > KMEM_BEGIN) /* a dirty scheduler runs it: by C functions alone */
        n -= KMEM_BEGIN;
    n = add_compiled(p, k, n, most);
    k->nustack = rt_frames(p, p + MEMBER_AT(ustack), n, most);
    return 0;
}

struct seek {
    u64 p, at;   /* of the last word that was looked at */
    u64 i;       /* words of the chunk that are left */
    u64 b, c, d; /* the words behind it */
    u64 found;
};

static long seek(u32 i, struct seek *w)
{
    (void)i;
    struct kslot *k = SLOT(w->p, 1);
    if (w->i == 0) {
        if (read_chunk(k, w->at - CHUNK_BYTES, CHUNK_BYTES) != 0)
            return 1;
        w->i = KMEM_CHUNK + ZERO;
    }
    w->i--;
    w->at -= 8;
    u64 a = GET(u64, w->p + MEMBER_AT(chunk) + w->i % KMEM_CHUNK * 8, 1);
    /* Before the three words is one that is an address, or 0. */
    if (w->d < KMEM_ARITY && kmem_is_atom(w->b) && kmem_is_atom(w->c) && (a & 7) == 0 &&
        a >> 47 == 0) {
        w->found = w->at + 8;
        return 1;
    }
    w->d = w->c;
    w->c = w->b;
    w->b = a;
    return 0;
}

/* Finds the three words in front of the code that an address lies in; 0: they are not near. */
RT rt_function(u64 p, u64 address)
{
    struct seek w = {p, ANY(address & ~7ul), ZERO, ZERO, ZERO, KMEM_ARITY + ZERO, ZERO};
    bpf_loop(KMEM_CODE, seek, &w, 0);
    return w.found;
}

/* Finds the three words of the function in which the process is, which is not one that the VM has
 * put there for itself; 0: it is not known. */
INLINE u64 function_of(u64 p, struct kslot *k)
{
    struct kbeam *v = AT(k->beam, sizeof(struct kbeam), 0);
    u64 own = v->own_code;
    for (u64 i = 0; i < KMEM_FIRST; i++) {
        u64 address = k->erlframe[i], at = address != 0 ? rt_function(p, address) : 0;
        if (at == 0 || own == 0 || word(at) != own) {
            k->funcat = i == 0 ? address : 0; /* what is kept is the first frame's */
            return at;
        }
    }
    return 0;
}

/* erlfunc: the address of its text. */
RT rt_erlfunc(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    u64 text = p + MEMBER_AT(erlfunc);
    u64 none = KMEM_TAG + p + MEMBER_AT(erlpid) + KMEM_ERLPID - 1;
    u64 passed = rt_passed_text(p, KABOUT_ERLFUNC);
    if (passed != 0)
        return passed;
    k->erlframe[0] = 0;
    if (k->thread == 0)
        rt_frames(p, p + MEMBER_AT(erlframe), 0, KMEM_FIRST);
    u64 address = k->erlframe[0], tgid = own_process();
    if (address == 0)
        return none;
    u64 now[3] = {0, 0, 0};
    if (address == k->funcat && tgid == k->funcvm &&
        bpf_probe_read_user(now, sizeof now, (void *)k->func[0]) == 0 && now[0] == k->func[1] &&
        now[1] == k->func[2] && now[2] == k->func[3])
        return KMEM_TAG + text;
    /* What was searched for in vain is not searched for again at once: functions can be long. */
    if (address == k->lost && tgid == k->lostvm && bpf_ktime_get_ns() - k->lostat < LOST_NS)
        return none;
    u64 at = function_of(p, k);
    if (at == 0 || !rt_began(k->beam, at, text, 0)) {
        k->funcat = 0;
        k->lost = address;
        k->lostvm = tgid;
        k->lostat = bpf_ktime_get_ns();
        return none;
    }
    k->funcvm = tgid;
    k->func[0] = at;
    k->func[1] = word(at);
    k->func[2] = word(at + 8);
    k->func[3] = word(at + 16);
    return KMEM_TAG + text;
}
