/* exec.c - the interpreter: engine_fire, and one execution of one clause.
 *
 * What the verifier has checked is not checked again. What depends on values is checked here: every
 * address, every divisor, the room in buffers, scratch and stores. A fault ends the clause, drops
 * its record, writes a fault record and fires ERROR. */
#include <limits.h>
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/size.h"
#include "engine/impl.h"

/* -- what a clause may read ------------------------------------------------------ */

/* Returns the bytes from addr to the end of the variables that contain it: the globals, or this
 * thread's clause-locals. 0: in neither. */
static size_t variable_room(const struct exec *x, uint64_t addr)
{
    uint64_t off = addr - (uint64_t)(uintptr_t)x->e->globals;
    if (off < x->e->globals_size)
        return x->e->globals_size - off;
    off = addr - (uint64_t)(uintptr_t)x->ts->locals;
    return off < x->e->locals_size ? x->e->locals_size - off : 0;
}

/* Returns the bytes from addr to the end of the range that contains it, 0: in none. */
static size_t range_room(const struct engine_range *range, unsigned n, uint64_t addr)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t off = addr - range[i].base;
        if (off < range[i].len)
            return range[i].len - off;
    }
    return 0;
}

size_t exec_room(const struct exec *x, uint64_t addr)
{
    size_t room = range_room(x->ctx->range, x->ctx->nranges, addr);
    if (room == 0)
        room = range_room(x->ctx->text, x->ctx->ntexts, addr);
    if (room > 0)
        return room;
    uint64_t off = addr - (uint64_t)(uintptr_t)x->ts->scratch;
    if (off < x->scratch_used)
        return x->scratch_used - off;
    off = addr - (uint64_t)(uintptr_t)x->e->img.strtab;
    if (off < x->e->img.strtab_len)
        return x->e->img.strtab_len - off;
    off = addr - (uint64_t)(uintptr_t)&x->e->self;
    return off < sizeof x->e->self ? sizeof x->e->self - off : variable_room(x, addr);
}

/* Returns the bytes writable at addr. */
static size_t writable(const struct exec *x, uint64_t addr)
{
    uint64_t off = addr - (uint64_t)(uintptr_t)x->ts->scratch;
    return off < x->scratch_used ? x->scratch_used - off : variable_room(x, addr);
}

uint64_t exec_fault(struct exec *x, enum record_fault f, uint64_t value)
{
    if (!x->faulted) {
        x->faulted = true;
        x->fault = f;
        x->fault_value = value;
    }
    return 0;
}

/* Returns whether other threads may write there. Dynamic variables are copied when loaded. */
static bool shared(const struct exec *x, uint64_t addr)
{
    return addr - (uint64_t)(uintptr_t)x->e->globals < x->e->globals_size;
}

/* Copies n bytes of text at s, at most strsize, to scratch, because other threads may write there.
 * What they write before the copy may shorten it. */
static const char *private_copy(struct exec *x, const char *s, size_t n, size_t *len)
{
    n = size_min(n, x->e->img.strsize);
    char *p = exec_scratch(x, n + 1);
    if (p == NULL)
        return NULL;
    memcpy(p, s, n);
    p[n] = '\0';
    *len = strlen(p);
    return p;
}

bool exec_overdrawn(struct exec *x)
{
    x->left = 0;
    exec_fault(x, RECORD_FAULT_EVENTBUDGET, x->e->opt.eventbudget);
    return false;
}

/* Returns whether the n bytes at addr cross a border. */
static bool crosses(const struct exec *x, uint64_t addr, size_t n)
{
    const uint64_t off = addr - (uint64_t)(uintptr_t)x->ts->scratch;
    if (off >= x->scratch_used || n == 0)
        return false;
    const uint64_t last = (off + n - 1) / 8;
    for (uint64_t word = off / 8 + 1; word <= last; word = (word | 63) + 1) {
        uint64_t bits = x->ts->borders[word / 64] >> word % 64;
        if ((word | 63) > last)
            bits &= (UINT64_C(2) << (last - word)) - 1;
        if (bits != 0)
            return true;
    }
    return false;
}

const char *exec_string(struct exec *x, uint64_t addr, size_t *len)
{
    const char *s = (const char *)(uintptr_t)addr;
    if (addr == x->last_string && addr != 0) {
        *len = x->last_length;
        return s;
    }
    size_t room = exec_room(x, addr), most = room;
    if (__builtin_expect(room / WORK_SCAN > x->left, 0))
        most = x->left * WORK_SCAN;
    *len = most > 0 ? strnlen(s, most) : 0;
    if (!exec_work(x, WORK_LOOK + x->e->far + *len / WORK_SCAN) || (*len == most && most < room)) {
        exec_overdrawn(x);
        return NULL;
    }
    if (*len < most && __builtin_expect(shared(x, addr), 0))
        return private_copy(x, s, *len, len);
    if (*len < most && (x->alloca_used == 0 || !crosses(x, addr, *len + 1))) {
        x->last_string = addr;
        x->last_length = *len;
        return s;
    }
    exec_fault(x, RECORD_FAULT_BADADDR, addr);
    return NULL;
}

/* -- areas: what a clause has from alloca() and copyin() --------------------------------------- */

/* Marks a border. They are set in ascending order: areas are never given back. */
static void border(const struct exec *x, size_t word)
{
    x->ts->borders[word / 64] |= UINT64_C(1) << word % 64;
    x->ts->nborders = word / 64 + 1;
}

/* Clears the borders that an earlier clause left. Returns false after a fault. */
static bool no_borders(struct exec *x)
{
    const size_t bytes = x->ts->nborders * sizeof *x->ts->borders;
    if (!exec_work(x, bytes / WORK_COPY))
        return false;
    memset(x->ts->borders, 0, bytes);
    x->ts->nborders = 0;
    return true;
}

char *exec_area(struct exec *x, size_t n)
{
    if (x->alloca_used == 0 && !no_borders(x))
        return NULL;
    char *p = exec_scratch(x, n);
    if (p == NULL)
        return NULL;
    border(x, (size_t)((unsigned char *)p - x->ts->scratch) / 8);
    border(x, x->scratch_used / 8);
    x->alloca_used += (uint32_t)size_up(n, 8);
    return p;
}

const void *exec_bytes(struct exec *x, uint64_t addr, size_t n)
{
    if (!exec_work(x, WORK_LOOK + x->e->far + n / WORK_SCAN))
        return NULL;
    if (exec_room(x, addr) >= n && (x->alloca_used == 0 || !crosses(x, addr, n)))
        return (const void *)(uintptr_t)addr;
    exec_fault(x, RECORD_FAULT_BADADDR, addr);
    return NULL;
}

void *exec_writable(struct exec *x, uint64_t addr, size_t n)
{
    x->last_string = 0;
    if (!exec_work(x, WORK_LOOK + x->e->far + n / WORK_COPY))
        return NULL;
    if (writable(x, addr) >= n && (x->alloca_used == 0 || !crosses(x, addr, n)))
        return (void *)(uintptr_t)addr;
    exec_fault(x, RECORD_FAULT_BADADDR, addr);
    return NULL;
}

char *exec_scratch(struct exec *x, size_t n)
{
    if (n > x->e->scratch_size - x->scratch_used) {
        exec_fault(x, RECORD_FAULT_NOSCRATCH, 0);
        return NULL;
    }
    /* The system creates a page when it is first written. */
    const uint64_t end = x->scratch_used + size_up(n, 8);
    if (__builtin_expect(end > x->ts->touched, 0)) {
        const uint64_t fresh = size_min(end - x->ts->touched, size_mul(x->left, WORK_COPY));
        memset(x->ts->scratch + x->ts->touched, 0, fresh);
        x->ts->touched += fresh;
        if (!exec_work(x, fresh / WORK_COPY) || x->ts->touched < end) {
            exec_overdrawn(x);
            return NULL;
        }
    }
    char *p = (char *)x->ts->scratch + x->scratch_used;
    /* Both are multiples of 8, so what fits also fits with its padding. */
    x->scratch_used += (uint32_t)size_up(n, 8);
    return p;
}

static uint64_t load(struct exec *x, uint64_t addr, unsigned size, bool is_signed)
{
    uint64_t v = 0;
    if (addr % size != 0)
        return exec_fault(x, RECORD_FAULT_BADALIGN, addr);
    const void *p = exec_bytes(x, addr, size);
    if (p == NULL)
        return 0;
    memcpy(&v, p, size); /* little-endian, like the machines that OTP's JIT supports */
    unsigned shift = 64 - 8 * size;
    return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
}

static void store(struct exec *x, uint64_t addr, unsigned size, uint64_t v)
{
    if (addr % size != 0) {
        exec_fault(x, RECORD_FAULT_BADALIGN, addr);
        return;
    }
    void *p = exec_writable(x, addr, size);
    if (p != NULL)
        memcpy(p, &v, size);
}

static void copy_bytes(struct exec *x, uint64_t to, uint64_t from, uint64_t n)
{
    const void *s = exec_bytes(x, from, n);
    void *d = s != NULL ? exec_writable(x, to, n) : NULL;
    if (d != NULL)
        memmove(d, s, n);
}

/* -- variables ------------------------------------------------------------------- */

/* Truncates a value to its type. */
static uint64_t int_truncate(const struct dif_type *t, uint64_t v)
{
    unsigned shift = 64 - 8 * t->size;
    return t->kind == DIF_INT ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

/* Loads a scalar of the globals or clause-locals. A string is a word (1: NULL) and its text. It is
 * copied, so that a concurrent write by another thread can at worst tear the text. */
static uint64_t scalar_load(struct exec *x, const struct dif_var *v, const unsigned char *at)
{
    if (v->type.kind == DIF_BYTES)
        return (uint64_t)(uintptr_t)at;
    if (__builtin_expect(x->e->far > 0, 0) && !exec_work(x, x->e->far))
        return 0;
    if (v->type.kind <= DIF_UINT)
        return int_truncate(&v->type,
                            __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED));
    if (__atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED) == 1)
        return 0;
    size_t n = strnlen((const char *)at + 8, v->type.size);
    char *p = exec_work(x, WORK_LOOK + n / WORK_COPY) ? exec_scratch(x, n + 1) : NULL;
    if (p == NULL)
        return 0;
    memcpy(p, at + 8, n);
    p[n] = '\0';
    return (uint64_t)(uintptr_t)p;
}

static void scalar_store(struct exec *x, const struct dif_var *v, unsigned char *at, uint64_t value)
{
    x->last_string = 0; /* the bytes stored may be part of it */
    if (__builtin_expect(x->e->far > 0, 0) && !exec_work(x, x->e->far))
        return;
    if (v->type.kind <= DIF_UINT) {
        __atomic_store_n((uint64_t *)(void *)at, value, __ATOMIC_RELAXED);
        return;
    }
    if (v->type.kind == DIF_BYTES) {
        const void *p = exec_bytes(x, value, v->type.size);
        if (p != NULL && exec_work(x, v->type.size / WORK_COPY))
            memmove(at, p, v->type.size);
        return;
    }
    if (value == 0) {
        __atomic_store_n((uint64_t *)(void *)at, 1, __ATOMIC_RELAXED);
        return;
    }
    size_t n;
    const uint32_t mark = x->scratch_used;
    const char *s = exec_string(x, value, &n);
    x->scratch_used = mark;
    x->last_string = 0; /* it may have been in this area */
    if (s == NULL)
        return;
    n = n < v->type.size ? n : v->type.size;
    if (!exec_work(x, WORK_LOOK + n / WORK_COPY))
        return;
    memmove(at + 8, s, n);
    at[8 + n] = '\0';
    __atomic_store_n((uint64_t *)(void *)at, 0, __ATOMIC_RELAXED);
}

/* Appends a value to a key or to a record: both are made of parts (record.h). */
static unsigned char *key_add(struct exec *x, unsigned char *k, const struct dif_type *t,
                              uint64_t v)
{
    if (t->kind <= DIF_UINT)
        return record_put_int(k, v, t->size);
    if (t->kind != DIF_STRING) {
        const void *p = exec_bytes(x, v, t->size);
        if (p != NULL && (t->size <= WORK_SHORT || exec_work(x, t->size / WORK_KEY)))
            memcpy(k, p, t->size);
        return k + t->size;
    }
    size_t n = 0;
    const uint32_t mark = x->scratch_used;
    const char *s = exec_string(x, v, &n);
    x->scratch_used = mark; /* a copy is no longer needed once it is in the key */
    if (s == NULL)
        return k;
    uint32_t len = n < t->size ? (uint32_t)n : t->size;
    if (__builtin_expect(len > WORK_SHORT, 0) && !exec_work(x, len / WORK_KEY))
        return k;
    return record_put_text(k, s, len);
}

static uint32_t key_tuple(struct exec *x, unsigned char *k, const struct dif_keys *keys,
                          const uint64_t *tuple)
{
    for (unsigned i = 0; i < keys->n; i++)
        k = key_add(x, k, &keys->key[i], tuple[i]);
    return (uint32_t)(k - x->ts->key);
}

/* Builds the key of a dynamic variable: its number, for a thread-local the process, then the tuple.
 * A NULL string in a tuple faults. */
static uint32_t key_dynamic(struct exec *x, uint32_t var, const uint64_t *tuple, uint64_t *hash)
{
    const struct dif_var *v = &x->e->img.vars[var];
    unsigned char *k = x->ts->key;
    memcpy(k, &var, 4);
    k += 4;
    if (v->scope == DIF_THREAD) {
        memcpy(k, &x->ctx->self, 8);
        k += 8;
    }
    uint32_t n = key_tuple(x, k, &v->keys, tuple);
    exec_work(x, WORK_DYN + x->e->dyn_far + v->keys.n * (WORK_SHORT / WORK_KEY));
    *hash = hash_bytes(x->ts->key, n);
    return n;
}

/* Called after a store, which counts its own work: returns whether it used up the budget. */
static bool store_over(struct exec *x)
{
    if (__builtin_expect(x->left == 0, 0))
        exec_overdrawn(x);
    return x->faulted;
}

/* Handles a full store: abandons the rest of the clause and what it recorded; only the count shows
 * it (language.md 5.2). */
static void dynamic_drop(struct exec *x)
{
    tcount_add(&x->ts->drop[RECORD_DROP_DYNAMIC], 1);
    x->faulted = true;
    x->no_room = true;
}

static uint64_t dynamic_load(struct exec *x, uint32_t var, const uint64_t *tuple)
{
    const struct dif_var *v = &x->e->img.vars[var];
    const bool self = v->scope == DIF_THREAD && !v->assoc && v->type.kind <= DIF_UINT;
    uint64_t hash, word = 0;
    if (self && x->self_var == var + 1)
        return x->self_value;
    uint32_t len = 0, n = key_dynamic(x, var, tuple, &hash);
    if (x->faulted)
        return 0;
    if (v->type.kind <= DIF_UINT) {
        if (dyn_get(&x->e->dyn, &x->left, x->ts->key, n, hash, x->ts->key + x->e->key_size, &len) ==
            DYN_OK)
            memcpy(&word, x->ts->key + x->e->key_size, 8);
        word = int_truncate(&v->type, word);
        x->self_var = self ? var + 1 : x->self_var;
        x->self_value = self ? word : x->self_value;
        return store_over(x) ? 0 : word;
    }
    char *p = exec_scratch(x, x->e->dyn.val_size + 1);
    if (p == NULL)
        return 0;
    if (v->type.kind == DIF_BYTES) { /* an absent variable is all zeros */
        if (dyn_get(&x->e->dyn, &x->left, x->ts->key, n, hash, p, &len) != DYN_OK &&
            exec_work(x, v->type.size / WORK_COPY))
            memset(p, 0, v->type.size); /* also clears what it held if that was freed meanwhile */
        return store_over(x) ? 0 : (uint64_t)(uintptr_t)p;
    }
    enum dyn_result r = dyn_get(&x->e->dyn, &x->left, x->ts->key, n, hash, p, &len);
    if (store_over(x) || r != DYN_OK)
        return 0;
    p[len] = '\0';
    return (uint64_t)(uintptr_t)p;
}

static void dynamic_store(struct exec *x, uint32_t var, const uint64_t *tuple, uint64_t value)
{
    const struct dif_var *v = &x->e->img.vars[var];
    uint64_t hash;
    uint32_t n = key_dynamic(x, var, tuple, &hash);
    x->self_var = 0;
    if (x->faulted)
        return;
    enum dyn_result r;
    if (value == 0) {
        r = dyn_del(&x->e->dyn, &x->left, x->ts->key, n, hash);
    } else if (v->type.kind == DIF_STRING) {
        size_t len = 0;
        const uint32_t mark = x->scratch_used;
        const char *s = exec_string(x, value, &len);
        x->scratch_used = mark;
        if (s == NULL)
            return;
        r = dyn_set(&x->e->dyn, &x->left, x->ts->key, n, hash, s,
                    len < v->type.size ? (uint32_t)len : v->type.size);
    } else if (v->type.kind == DIF_BYTES) {
        const void *p = exec_bytes(x, value, v->type.size);
        if (p == NULL)
            return;
        r = dyn_set(&x->e->dyn, &x->left, x->ts->key, n, hash, p, v->type.size);
    } else {
        r = dyn_set(&x->e->dyn, &x->left, x->ts->key, n, hash, &value, 8);
    }
    if (!store_over(x) && r == DYN_FULL)
        dynamic_drop(x);
}

static uint64_t dynamic_add(struct exec *x, uint32_t var, const uint64_t *tuple, uint64_t delta)
{
    uint64_t hash, sum = 0;
    uint32_t n = key_dynamic(x, var, tuple, &hash);
    x->self_var = 0;
    if (x->faulted)
        return 0;
    if (dyn_add(&x->e->dyn, &x->left, x->ts->key, n, hash, delta, &sum) != DYN_OK) {
        if (!store_over(x))
            dynamic_drop(x);
        return 0;
    }
    if (sum == 0) /* a value that became 0 is freed */
        dyn_del(&x->e->dyn, &x->left, x->ts->key, n, hash);
    return int_truncate(&x->e->img.vars[var].type, sum);
}

/* -- built-ins ------------------------------------------------------------------- */

/* Values that must be the same throughout one firing. */
struct clocks {
    uint64_t timestamp, vtimestamp, wall;
    unsigned have; /* bit set of DIF_BUILTIN numbers */
};

static uint64_t timestamp(struct clocks *c)
{
    if ((c->have & 1u << DIF_BUILTIN_timestamp) == 0) {
        c->timestamp = monotonic_ns();
        c->have |= 1u << DIF_BUILTIN_timestamp;
    }
    return c->timestamp;
}

/* Returns the address of a probe's name, which the program may read from then on. */
static uint64_t probe_text(struct exec *x, const char *s)
{
    struct engine_ctx *ctx = x->ctx;
    uint64_t at = (uint64_t)(uintptr_t)s;
    if (range_room(ctx->text, ctx->ntexts, at) == 0 && ctx->ntexts < ENGINE_TEXTS)
        ctx->text[ctx->ntexts++] = (struct engine_range){at, strlen(s) + 1};
    return at;
}

/* Returns a built-in variable of the VM tier, or an element of one. */
static uint64_t about(struct exec *x, unsigned which, uint64_t index)
{
    exec_work(x, WORK_ARGUMENT);
    return x->ctx->about != NULL ? x->ctx->about(x->ctx, which, index) : 0;
}

static uint64_t builtin(struct exec *x, unsigned which, uint32_t epid)
{
    struct clocks *c = x->clocks;
    const struct engine_probe *p = x->ctx->probe;
    switch (which) {
    case DIF_BUILTIN_timestamp: return timestamp(c);
    case DIF_BUILTIN_vtimestamp:
        if ((c->have & 1u << DIF_BUILTIN_vtimestamp) == 0) {
            exec_work(x, x->ctx->vtimestamp ? WORK_CLOCK : WORK_CPUTIME);
            c->vtimestamp = x->ctx->vtimestamp ? x->ctx->vtimestamp(x->ctx) : thread_ns();
            c->have |= 1u << DIF_BUILTIN_vtimestamp;
        }
        return c->vtimestamp;
    case DIF_BUILTIN_walltimestamp:
        if ((c->have & 1u << DIF_BUILTIN_walltimestamp) == 0) {
            exec_work(x, WORK_CLOCK);
            c->wall = clock_ns(CLOCK_REALTIME);
            c->have |= 1u << DIF_BUILTIN_walltimestamp;
        }
        return c->wall;
    case DIF_BUILTIN_cpu: exec_work(x, WORK_CLOCK); return (uint64_t)(int64_t)sched_getcpu();
    case DIF_BUILTIN_pid: return (uint64_t)(int64_t)x->e->self.pid;
    case DIF_BUILTIN_ppid: return (uint64_t)(int64_t)x->e->self.ppid;
    case DIF_BUILTIN_uid: return x->e->self.uid;
    case DIF_BUILTIN_gid: return x->e->self.gid;
    case DIF_BUILTIN__pgid: return (uint64_t)(int64_t)x->e->self.pgid;
    case DIF_BUILTIN__sid: return (uint64_t)(int64_t)x->e->self.sid;
    case DIF_BUILTIN__euid: return x->e->self.euid;
    case DIF_BUILTIN__egid: return x->e->self.egid;
    case DIF_BUILTIN_execname: return (uint64_t)(uintptr_t)x->e->self.execname;
    case DIF_BUILTIN_cwd:
    case DIF_BUILTIN_root: return (uint64_t)(uintptr_t)x->e->self.unknown;
    case DIF_BUILTIN_tid: return (uint64_t)(int64_t)x->t->tid;
    case DIF_BUILTIN_probeprov: return probe_text(x, p->prov);
    case DIF_BUILTIN_probemod: return probe_text(x, p->mod);
    case DIF_BUILTIN_probefunc: return probe_text(x, p->func);
    case DIF_BUILTIN_probename: return probe_text(x, p->name);
    case DIF_BUILTIN_id: return p->id;
    case DIF_BUILTIN_epid: return epid;
    case DIF_BUILTIN_errno: return 0;
    default: return about(x, which, 0); /* those of the kernel tier never get here */
    }
}

void exec_lower(struct exec *x)
{
    if (!x->ctx->read_lower)
        buffer_dropped(x->e, x->ts, RECORD_DROP_LOWER, 1);
    x->ctx->read_lower = true;
}

static uint64_t argument(struct exec *x, unsigned n)
{
    struct engine_ctx *ctx = x->ctx;
    if ((ctx->have >> n & 1) == 0) {
        exec_work(x, WORK_ARGUMENT);
        if (ctx->have == 0)
            ctx->lower = 0;
        ctx->have |= (uint16_t)(1u << n);
        ctx->least = false;
        ctx->argv[n] = ctx->arg != NULL ? ctx->arg(ctx, n) : 0;
        ctx->lower |= (uint16_t)(ctx->least << n);
    }
    if (__builtin_expect(ctx->lower >> n & 1, 0))
        exec_lower(x);
    return ctx->argv[n];
}

/* -- records --------------------------------------------------------------------- */

/* Returns room for n bytes in the active half, or NULL (counted) when there is none. */
static unsigned char *record_reserve(struct exec *x, struct phalf *h, uint32_t n)
{
    uint64_t used = atomic_load_explicit(&h->used, memory_order_relaxed);
    if (__builtin_expect(n > h->limit - used, 0))
        return buffer_full(x->e, x->ts, h, n);
    return h->data + used;
}

/* The same for a record of a clause; also NULL after a fault. In a ring it walks over the older
 * records that it overwrites, which is work. */
static unsigned char *record_begin(struct exec *x, struct phalf *h, uint32_t n)
{
    const uint64_t over = h->full == FULL_WRAP ? n / WORK_SCAN : 0;
    return exec_work(x, WORK_RECORD + over) ? record_reserve(x, h, n) : NULL;
}

static void record_commit(struct phalf *h, uint32_t size)
{
    uint64_t used = atomic_load_explicit(&h->used, memory_order_relaxed);
    atomic_store_explicit(&h->used, used + size, memory_order_relaxed);
}

/* Completes the record whose parts end at `end`. */
static inline void record_finish(struct exec *x, struct phalf *h, unsigned char *rec,
                                 unsigned char *end, uint32_t epid)
{
    record_commit(h,
                  record_put_head(rec, end, epid, timestamp(x->clocks), (uint32_t)sched_getcpu()));
    tcount_add(&x->ts->recorded, 1);
}

/* -- speculations ------------------------------------------------------------------------------ */

uint64_t exec_speculation(struct exec *x)
{
    bool busy = false;
    if (!exec_work(x, WORK_SPEC))
        return 0;
    for (uint32_t i = 0; i < x->e->nspec; i++) {
        uint32_t s = SPEC_IDLE;
        if (atomic_compare_exchange_strong(&x->e->spec[i], &s, SPEC_ACTIVE))
            return i + 1;
        busy |= s == SPEC_COMMITTED || s == SPEC_DISCARDED;
    }
    tcount_add(&x->ts->drop[busy ? RECORD_DROP_SPECBUSY : RECORD_DROP_SPECUNAVAIL], 1);
    return 0;
}

/* Returns this thread's buffer of a speculation, NULL if the speculation is not active. */
static struct phalf *spec_buffer(const struct exec *x, uint64_t id)
{
    if (id == 0 || id > x->e->nspec || atomic_load(&x->e->spec[id - 1]) != SPEC_ACTIVE)
        return NULL;
    return &x->ts->spec[id - 1];
}

/* Implements commit and discard. The first thread to end a speculation decides how. The reader
 * handles what other threads have in it, and on discard also what this thread has. */
static void spec_end(struct exec *x, uint64_t id, enum spec_state end, struct phalf *principal)
{
    uint32_t s = SPEC_ACTIVE;
    if (!exec_work(x, WORK_SPEC))
        return;
    if (id > x->e->opt.nspec) {
        exec_fault(x, RECORD_FAULT_ILLOP, 0);
        return;
    }
    if (id == 0 || id > x->e->nspec ||
        !atomic_compare_exchange_strong(&x->e->spec[id - 1], &s, end))
        return;
    if (end == SPEC_COMMITTED)
        buffer_commit(x, &x->ts->spec[id - 1], principal);
}

/* Writes the record of a fault, with the firing's time. */
static void record_failed(struct exec *x, struct phalf *h, uint32_t epid, uint32_t action,
                          uint32_t offset)
{
    unsigned char *rec = record_reserve(x, h, RECORD_SIZE_OF_FAULT);
    if (rec == NULL)
        return;
    const struct record_failure f = {epid, action, offset, (uint32_t)x->fault, x->fault_value};
    record_put_fault(rec, &f, timestamp(x->clocks), (uint32_t)sched_getcpu());
    record_commit(h, RECORD_SIZE_OF_FAULT);
}

/* Returns the action that instruction pc belongs to (1.., 0: the predicate), and its byte offset
 * from that action's start. */
static uint32_t action_of(const struct dif_image *img, const struct dif_clause *c, uint32_t pc,
                          uint32_t *offset)
{
    *offset = pc * 4;
    for (uint32_t i = c->nactions; pc >= c->npred && i > 0; i--) {
        const struct dif_action *a = &img->actions[c->action + i - 1];
        if (pc >= a->pc) {
            *offset = (pc - a->pc) * 4;
            return i;
        }
    }
    return pc < c->npred ? 0 : 1;
}

/* -- the interpreter ------------------------------------------------------------- */

/* Returns where the entry of a key is noted that its words will always tell, and in `now` what is
 * noted; NULL: a part is neither a number nor where a text stays. */
static struct key_seen *seen_at(const struct exec *x, const struct ahalf *h, uint32_t agg,
                                const uint64_t *word, struct key_seen *now)
{
    const struct engine_ctx *ctx = x->ctx;
    const struct dif_keys *keys = &x->e->img.aggs[agg].keys;
    *now = (struct key_seen){.round = h->round, .stays = ctx->stays, .agg = agg};
    for (unsigned i = 0; i < keys->n; i++) {
        if (i == SEEN_WORDS || keys->key[i].kind > DIF_STRING ||
            (keys->key[i].kind == DIF_STRING &&
             word[i] - (uint64_t)(uintptr_t)x->e->img.strtab >= x->e->img.strtab_len &&
             (ctx->stays == 0 ||
              (word[i] != ctx->fixed.base && range_room(ctx->text, ctx->ntexts, word[i]) == 0))))
            return NULL;
        now->word[i] = word[i];
    }
    return &x->ts->seen[hash_mix(now->word[0] ^ agg, now->word[1] ^ 0x9e3779b97f4a7c15u) % SEEN];
}

/* Runs an AGG instruction. */
__attribute__((noinline)) static void aggregate(struct exec *x, struct ahalf *h, uint32_t agg,
                                                const uint64_t *tuple)
{
    const struct dif_agg *a = &x->e->img.aggs[agg];
    struct key_seen now, *seen = seen_at(x, h, agg, tuple, &now);
    const bool known = seen != NULL && seen->round == now.round && seen->stays == now.stays &&
                       seen->agg == agg && seen->word[0] == now.word[0] &&
                       seen->word[1] == now.word[1];
    uint32_t n = known ? 0 : key_tuple(x, x->ts->key, &a->keys, tuple);
    if (x->faulted || !exec_work(x, WORK_AGG + x->e->agg_far + a->keys.n * (WORK_SHORT / WORK_KEY)))
        return;
    unsigned nargs = dif_agg_nargs(a->func);
    int64_t value = nargs > 0 ? (int64_t)tuple[a->keys.n] : 0;
    int64_t incr = nargs > 1 ? (int64_t)tuple[a->keys.n + 1] : (int64_t)(1 + x->ctx->more);
    if (x->lower && a->func == AGG_STDDEV) { /* it may be less, and it may be more */
        buffer_dropped(x->e, x->ts, RECORD_DROP_UNCOUNTED, 1);
        return;
    }
    if (known)
        aggr_add(x, seen->entry, value, incr);
    else if ((now.entry = aggr_update(x, h, agg, x->ts->key, n, value, incr)) == NULL) {
        if (!x->faulted)
            buffer_dropped(x->e, x->ts, RECORD_DROP_AGGREGATION, 1 + x->ctx->more);
        return;
    } else if (seen != NULL)
        *seen = now;
    tcount_add(&x->ts->updates, 1 + x->ctx->more);
}

/* Compares for SCMP: 0, 1, 2 for less, equal, greater, so that all kinds of branches agree. */
uint64_t exec_compare(struct exec *x, uint64_t a, uint64_t b)
{
    size_t na, nb;
    if (a == 0 || b == 0)
        return a < b ? 0 : a == b ? 1 : 2;
    const uint32_t mark = x->scratch_used;
    const char *s = exec_string(x, a, &na);
    const char *t = s != NULL ? exec_string(x, b, &nb) : NULL;
    x->scratch_used = mark;
    if (t == NULL)
        return 1;
    size_t n = na < nb ? na : nb;
    if (!exec_work(x, WORK_LOOK + n / WORK_COPY))
        return 1;
    int r = memcmp(s, t, n < x->e->img.strsize ? n : x->e->img.strsize);
    if (r != 0 || n >= x->e->img.strsize)
        return r < 0 ? 0 : r == 0 ? 1 : 2;
    return na < nb ? 0 : na == nb ? 1 : 2;
}

static uint64_t divide(struct exec *x, uint64_t a, uint64_t b, bool is_signed, bool rem)
{
    exec_work(x, WORK_DIVIDE);
    if (b == 0)
        return exec_fault(x, RECORD_FAULT_DIVZERO, 0);
    if (is_signed && b == UINT64_MAX) /* INT64_MIN / -1 traps in hardware */
        return rem ? 0 : 0 - a;
    if (is_signed)
        return rem ? (uint64_t)((int64_t)a % (int64_t)b) : (uint64_t)((int64_t)a / (int64_t)b);
    return rem ? a % b : a / b;
}

/* Runs one clause to its end or to a fault, at instruction *at. As branches only go forward, it has
 * run at most that many instructions. */
static void clause_run(struct exec *x, uint32_t epid, const struct dif_clause *c,
                       const struct clause_rt *rt, struct phalf *principal, struct ahalf *ah,
                       uint32_t *at)
{
    struct phalf *ph = principal; /* the buffer that gets the record */
    struct engine *e = x->e;
    const struct dif_image *img = &e->img;
    const uint32_t *code = rt->code;
    uint64_t r[DIF_NREGS]; /* each is set before it is read: the verifier ensures it */
    uint64_t tuple[DIF_TUPLE_MAX];
    uint64_t ca = 0, cb = 0; /* operands of the last CMP, SCMP or TST */
    unsigned char *rec = NULL, *part = NULL;
    unsigned depth = 0;
    uint32_t pc = 0;

#define A   r[in >> 16 & 15]
#define B   r[in >> 8 & 15]
#define C   r[in & 15]
#define IMM (in & 65535)
#define BRANCH(cond)                                                                               \
    if (cond)                                                                                      \
    pc = (in & 0xffffff) - 1
    for (;; pc++) {
        uint32_t in = code[pc];
        switch ((enum dif_op)(in >> 24)) {
        case DIF_OP_NOP: break;
        case DIF_OP_RET:
            if (rec != NULL)
                record_finish(x, ph, rec, part, epid);
            goto ended;
        case DIF_OP_OR: A = B | C; break;
        case DIF_OP_XOR: A = B ^ C; break;
        case DIF_OP_AND: A = B & C; break;
        case DIF_OP_SLL: A = B << (C & 63); break;
        case DIF_OP_SRL: A = B >> (C & 63); break;
        case DIF_OP_SRA: A = (uint64_t)((int64_t)B >> (C & 63)); break;
        case DIF_OP_SUB: A = B - C; break;
        case DIF_OP_ADD: A = B + C; break;
        case DIF_OP_MUL: A = B * C; break;
        case DIF_OP_SDIV: A = divide(x, B, C, true, false); goto checked;
        case DIF_OP_UDIV: A = divide(x, B, C, false, false); goto checked;
        case DIF_OP_SREM: A = divide(x, B, C, true, true); goto checked;
        case DIF_OP_UREM: A = divide(x, B, C, false, true); goto checked;
        case DIF_OP_NOT: A = ~B; break;
        case DIF_OP_MOV: A = B; break;
        case DIF_OP_EXTS: A = int_truncate(&(struct dif_type){DIF_INT, in & 255}, B); break;
        case DIF_OP_EXTU: A = int_truncate(&(struct dif_type){DIF_UINT, in & 255}, B); break;
        case DIF_OP_SETI: A = (uint64_t)(int64_t)(int16_t)IMM; break;
        case DIF_OP_SETX: A = img->ints[IMM]; break;
        case DIF_OP_SETS: A = (uint64_t)(uintptr_t)(img->strtab + img->str[IMM]); break;
        case DIF_OP_CMP:
            ca = A;
            cb = B;
            break;
        case DIF_OP_SCMP:
            ca = exec_compare(x, A, B);
            cb = 1;
            goto checked;
        case DIF_OP_TST:
            ca = A;
            cb = 0;
            break;
        case DIF_OP_BA: BRANCH(true); break;
        case DIF_OP_BE: BRANCH(ca == cb); break;
        case DIF_OP_BNE: BRANCH(ca != cb); break;
        case DIF_OP_BG: BRANCH((int64_t)ca > (int64_t)cb); break;
        case DIF_OP_BGU: BRANCH(ca > cb); break;
        case DIF_OP_BGE: BRANCH((int64_t)ca >= (int64_t)cb); break;
        case DIF_OP_BGEU: BRANCH(ca >= cb); break;
        case DIF_OP_BL: BRANCH((int64_t)ca < (int64_t)cb); break;
        case DIF_OP_BLU: BRANCH(ca < cb); break;
        case DIF_OP_BLE: BRANCH((int64_t)ca <= (int64_t)cb); break;
        case DIF_OP_BLEU: BRANCH(ca <= cb); break;
        case DIF_OP_LDSB: A = load(x, B, 1, true); goto checked;
        case DIF_OP_LDSH: A = load(x, B, 2, true); goto checked;
        case DIF_OP_LDSW: A = load(x, B, 4, true); goto checked;
        case DIF_OP_LDUB: A = load(x, B, 1, false); goto checked;
        case DIF_OP_LDUH: A = load(x, B, 2, false); goto checked;
        case DIF_OP_LDUW: A = load(x, B, 4, false); goto checked;
        case DIF_OP_LDX: A = load(x, B, 8, false); goto checked;
        case DIF_OP_STB: store(x, A, 1, B); goto checked;
        case DIF_OP_STH: store(x, A, 2, B); goto checked;
        case DIF_OP_STW: store(x, A, 4, B); goto checked;
        case DIF_OP_STX: store(x, A, 8, B); goto checked;
        case DIF_OP_COPY: copy_bytes(x, A, B, C); goto checked;
        case DIF_OP_BOUND:
            if (A >= img->ints[IMM])
                exec_fault(x, RECORD_FAULT_BADINDEX, A);
            goto checked;
        case DIF_OP_LDARG: A = argument(x, in & 255); goto checked;
        case DIF_OP_LDB: A = builtin(x, IMM, epid); goto checked;
        case DIF_OP_LDBA: A = about(x, IMM, A); goto checked;
        case DIF_OP_LDGS:
            A = scalar_load(x, &img->vars[IMM], e->globals + e->offsets[IMM]);
            goto checked;
        case DIF_OP_STGS:
            scalar_store(x, &img->vars[IMM], e->globals + e->offsets[IMM], A);
            goto checked;
        case DIF_OP_ADDGS: {
            if (!exec_work(x, WORK_LOOK + e->far))
                goto ended;
            uint64_t *at64 = (uint64_t *)(void *)(e->globals + e->offsets[IMM]);
            A *= 1 + x->ctx->more;
            A = int_truncate(&img->vars[IMM].type, __atomic_add_fetch(at64, A, __ATOMIC_RELAXED));
            break;
        }
        case DIF_OP_LDLS:
            A = scalar_load(x, &img->vars[IMM], x->ts->locals + e->offsets[IMM]);
            goto checked;
        case DIF_OP_STLS:
            scalar_store(x, &img->vars[IMM], x->ts->locals + e->offsets[IMM], A);
            goto checked;
        case DIF_OP_LDTS: A = dynamic_load(x, IMM, NULL); goto checked;
        case DIF_OP_STTS: dynamic_store(x, IMM, NULL, A); goto checked;
        case DIF_OP_ADDTS: A = dynamic_add(x, IMM, NULL, A); goto checked;
        case DIF_OP_LDGAA:
        case DIF_OP_LDTAA:
            A = dynamic_load(x, IMM, tuple);
            depth = 0;
            goto checked;
        case DIF_OP_STGAA:
        case DIF_OP_STTAA:
            dynamic_store(x, IMM, tuple, A);
            depth = 0;
            goto checked;
        case DIF_OP_ADDGAA:
        case DIF_OP_ADDTAA:
            A = dynamic_add(x, IMM, tuple, A);
            depth = 0;
            goto checked;
        case DIF_OP_PUSHTR:
        case DIF_OP_PUSHTV: tuple[depth++] = A; break;
        case DIF_OP_FLUSHTS: depth = 0; break;
        case DIF_OP_CALL:
            A = subr_call(x, IMM, tuple, depth);
            depth = 0;
            goto checked;
        case DIF_OP_RECB:
            rec = record_begin(x, ph, rt->record_max);
            if (rec == NULL)
                goto ended;
            part = record_parts(rec);
            break;
        case DIF_OP_RECN:
            rec = record_begin(x, ph, rt->record_max);
            if (rec == NULL)
                goto ended;
            part = record_put_sub(rec, IMM);
            break;
        case DIF_OP_RECE:
            record_finish(x, ph, rec, part, epid);
            rec = NULL;
            ph = principal;
            break;
        case DIF_OP_SPEC:
            ph = spec_buffer(x, A);
            if (ph == NULL)
                goto ended;
            break;
        case DIF_OP_COMMIT: spec_end(x, A, SPEC_COMMITTED, principal); goto checked;
        case DIF_OP_DISCARD: spec_end(x, A, SPEC_DISCARDED, principal); goto checked;
        case DIF_OP_REC: part = key_add(x, part, &img->parts[c->part + IMM], A); goto checked;
        case DIF_OP_AGG:
            aggregate(x, ah, IMM, tuple);
            x->lower = false;
            depth = 0;
            goto checked;
        case DIF_OP_EXIT: atomic_store_explicit(&e->exiting, 1, memory_order_relaxed); break;
        }
        continue;
    checked:
        if (__builtin_expect(x->faulted, 0))
            goto ended;
    }
ended:
    *at = pc;
#undef A
#undef B
#undef C
#undef IMM
#undef BRANCH
}

static void bindings_run(struct engine *e, struct engine_thread *t, struct tstate *ts,
                         struct engine_ctx *ctx, const struct engine_binding *b, uint32_t n,
                         uint64_t *left, bool in_error);

/* Counts n errors of clauses; in ERROR they also count as drops. */
static void count_errors(struct tstate *ts, uint32_t n, bool in_error)
{
    tcount_add(&ts->errors, n);
    if (in_error)
        tcount_add(&ts->drop[RECORD_DROP_DBLERROR], n);
}

/* Counts and records a fault; fires ERROR on the rest of the budget, with none on its reserve. */
static void fault_report(struct exec *x, const struct engine_binding *b, uint32_t pc,
                         struct phalf *ph, uint64_t *left, bool in_error)
{
    struct engine *e = x->e;
    const struct dif_clause *c = &e->img.clauses[b->clause];
    uint32_t offset, action = action_of(&e->img, c, pc, &offset);
    *left = size_left(*left, WORK_FAULT + c->nactions);
    count_errors(x->ts, 1, in_error);
    if (in_error)
        return;
    record_failed(x, ph, b->epid, action, offset);
    if (e->nerror == 0)
        return;
    struct engine_ctx ctx = {.probe = e->error_probe,
                             .self = x->ctx->self,
                             .have = (1u << ENGINE_ARGS) - 1,
                             .at = timestamp(x->clocks),
                             .wall = x->clocks->wall};
    const uint64_t arg[] = {0, b->epid, action, offset, (uint64_t)x->fault, x->fault_value};
    memcpy(ctx.argv, arg, sizeof arg);
    bindings_run(e, x->t, x->ts, &ctx, e->error_bindings, e->nerror,
                 x->fault == RECORD_FAULT_EVENTBUDGET ? &(uint64_t){ENGINE_BUDGET_ERROR} : left,
                 true);
}

static void bindings_run(struct engine *e, struct engine_thread *t, struct tstate *ts,
                         struct engine_ctx *ctx, const struct engine_binding *b, uint32_t n,
                         uint64_t *left, bool in_error)
{
    uint32_t active = atomic_load_explicit(&e->active, memory_order_acquire);
    struct phalf *ph = &ts->principal[(active & RECORD_PRINCIPAL) != 0];
    struct ahalf *ah = &ts->aggs[(active & RECORD_AGGS) != 0];
    bool ending = atomic_load_explicit(&e->phase, memory_order_relaxed) == ENGINE_END;
    if (__builtin_expect(ending, 0) && ph->full == FULL_END)
        ph->limit = ph->size; /* this part was reserved for END */
    struct clocks clocks = {.timestamp = ctx->at, .wall = ctx->wall};
    clocks.have = (ctx->at != 0 ? 1u << DIF_BUILTIN_timestamp : 0) |
                  (ctx->wall != 0 ? 1u << DIF_BUILTIN_walltimestamp : 0);
    for (uint32_t i = 0; i < n; i++) {
        if (!ending && i > 0 && atomic_load_explicit(&e->exiting, memory_order_relaxed))
            return; /* exit() ran: skip the later clauses of this firing */
        struct exec x = {.e = e, .t = t, .ts = ts, .ctx = ctx, .clocks = &clocks, .left = *left};
        x.in_error = in_error;
        x.last_string = ctx->fixed.base;
        x.last_length = ctx->fixed.len;
        uint32_t at = 0;
        if (__builtin_expect(*left > 0, 1))
            clause_run(&x, b[i].epid, &e->img.clauses[b[i].clause], &e->clauses[b[i].clause], ph,
                       ah, &at);
        else
            exec_overdrawn(&x);
        *left = size_left(x.left, WORK_CLAUSE + at);
        if (__builtin_expect(x.faulted, 0) && !x.no_room) {
            fault_report(&x, &b[i], at, ph, left, in_error);
            if (x.fault == RECORD_FAULT_EVENTBUDGET) { /* abandon the later clauses */
                count_errors(ts, n - i - 1, in_error);
                *left = 0;
                return;
            }
        }
    }
}

/* Returns whether this thread may fire here: it must have a part and, with the option cpu, run on
 * that CPU. */
static bool admitted(struct engine *e, const struct engine_thread *t, const struct engine_ctx *ctx,
                     uint32_t phase)
{
    if (e->opt.one_cpu && phase == ENGINE_RUNNING && !ctx->anywhere &&
        sched_getcpu() != (int)e->opt.cpu)
        return false;
    if (t->index < e->opt.threads)
        return true;
    atomic_fetch_add_explicit(&e->tier_drops[RECORD_DROP_THREAD], 1, memory_order_relaxed);
    return false;
}

void engine_fire(struct engine *e, struct engine_thread *t, struct engine_ctx *ctx,
                 const struct engine_binding *b, uint32_t n)
{
    uint32_t phase = atomic_load_explicit(&e->phase, memory_order_relaxed);
    if (phase == ENGINE_IDLE || phase == ENGINE_STOPPED)
        return;
    if (phase != ENGINE_END && atomic_load_explicit(&e->exiting, memory_order_relaxed))
        return;
    if (__builtin_expect(t->index >= e->open_threads, 0) && !admitted(e, t, ctx, phase))
        return;
    struct tstate *ts = engine_tstate(e, t->index);
    if (__builtin_expect(ts->key == NULL, 0))
        engine_thread_init(e, ts);
    tcount_add(&ts->fired, 1 + ctx->more);
    if (ctx->own)
        tcount_add(&ts->own, 1);
    ctx->ntexts = 0;
    ctx->looked = 0; /* tiers do not zero the engine's own members */
    ctx->read_lower = false;
    uint64_t left = e->opt.eventbudget;
    bindings_run(e, t, ts, ctx, b, n, &left, false);
    ts->left = left;
}
