/* beam.c - which Erlang process runs on this thread. c_src/linux/kbeam.h tells how it is found. */
#include "rt.h"

enum { HAVE_PROCESS = 8 }; /* a bit of kslot.have; event.c has the others */

/* Returns the place of a process's cell in a table of n of them, each of which begins with the
 * number of its process; 0: it has none. (An unused one has the number 0.) */
INLINE u64 cell_of(u64 table, u64 size, u64 n, u64 tgid)
{
    for (u64 i = 0; i < KMEM_TRIES && tgid != 0; i++) {
        u64 at = table + (tgid + i) % n * size;
        if (GET(u32, at, 0) == tgid)
            return at;
    }
    return 0;
}

/* Returns the place of what is known of an Erlang VM; 0: nothing. */
RT rt_beam(u64 tgid)
{
    return cell_of(__builtin_offsetof(struct kctl, beam), sizeof(struct kbeam), KMEM_BEAMS, tgid);
}

/* Returns whether an address between the begin and the end of a VM's compiled code lies in it. */
RT rt_compiled(u64 beam, u64 at)
{
    struct kbeam *v = AT(beam, sizeof(struct kbeam), 0);
    u64 n = v->npieces;
    for (u64 i = 0; i < KMEM_PIECES && i < n; i++)
        if (at - v->piece[i].from < v->piece[i].to - v->piece[i].from)
            return 1;
    return n == 0;
}

INLINE u64 word(u64 at)
{
    u64 v = 0;
    bpf_probe_read_user(&v, sizeof v, (void *)at);
    return v;
}

INLINE u32 word32(u64 at)
{
    u32 v = 0;
    bpf_probe_read_user(&v, sizeof v, (void *)at);
    return v;
}

/* The address of a text that a node has kept for the event, by number; 0: there is none, or it is
 * no address of a process, which alone may be read on the word of one. */
RT rt_passed_text(u64 p, u64 i)
{
    struct kslot *k = SLOT(p, 0);
    u64 at = k->about != 0 ? word(k->about + i * 8) : 0;
    return at >> 47 == 0 ? at : 0;
}

/* What a node has kept for the event, by number. */
RT rt_passed(u64 p, u64 i)
{
    struct kslot *k = SLOT(p, 0);
    if (i >= KABOUT_TEXT)
        return rt_passed_text(p, i - KABOUT_TEXT);
    return k->about != 0 ? word(k->about + i * 8) : 0;
}

/* probename: of some probes the node alone knows it. */
RT rt_probename(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    u64 passed = rt_passed_text(p, KABOUT_NAME);
    return passed != 0 ? passed : GET(u64, k->entry + __builtin_offsetof(struct kentry, name), 0);
}

/* Notes whether the node has read a lower bound for the event. */
RT rt_lower(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    k->lower = k->about != 0 && word(k->about + KABOUT_LOWER * 8) == 1;
    return 0;
}

/* Returns the address of the Erlang process that this thread runs, the same throughout a clause; 0:
 * it runs none, or that is not known. */
RT rt_process(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    if ((k->have & HAVE_PROCESS) != 0)
        return k->process;
    k->have |= HAVE_PROCESS;
    k->process = 0;
    k->beam = rt_beam(own_process());
    if (k->beam == 0)
        return 0;
    struct kbeam *v = AT(k->beam, sizeof(struct kbeam), 0);
    u64 tls = 0;
    bpf_probe_read_kernel(&tls, sizeof tls, (void *)(bpf_get_current_task() + K(TASK_TLS)));
    u64 record = word(tls + (u64)(s64)v->own);
    u64 process = record != 0 ? word(record + v->back) : 0;
    if (process == 0)
        return 0;
    u64 id = word(process), there = word(process + v->there);
    if ((there != record && there != 0) || (id & ~(~0ul << (v->shift & 63))) != 3)
        return 0;
    k->id = id;
    k->process = process;
    return process;
}

/* Writes a number in decimal digits before a place; returns the place of the first one. */
RT rt_decimal(u64 before, u64 v)
{
    struct digits w = {ANY(before), ANY(v), 10};
    bpf_loop(20, put_digit, &w, 0);
    return w.at;
}

/* erlpid: the address of its text, which is written from its end on. Of a thread that does not run
 * the memory cannot be read: there is no process. */
RT rt_erlpid(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    u64 end = p + K(KSLOT) + __builtin_offsetof(struct kslot, erlpid) + KMEM_ERLPID - 1;
    u64 passed = rt_passed_text(p, KABOUT_ERLPID);
    if (passed != 0)
        return passed;
    if (k->thread != 0 || rt_process(p) == 0)
        return KMEM_TAG + end;
    u64 tgid = own_process(), beam = k->beam, id = k->id;
    if (id == k->erlid && tgid == k->erlvm)
        return KMEM_TAG + k->erlat;
    struct kbeam *v = AT(beam, sizeof(struct kbeam), 0);
    u64 data = id >> (v->shift & 63), number = v->number & 63, serial = v->serial & 63;
    PUT(u8, end - 1, '>', 0);
    u64 at = rt_decimal(end - 1, data >> number & ~(~0ul << serial));
    PUT(u8, at - 1, '.', 0);
    at = rt_decimal(at - 1, data & ~(~0ul << number));
    PUT(u8, at - 1, '.', 0);
    PUT(u8, at - 2, '0', 0);
    PUT(u8, at - 3, '<', 0);
    k->erlid = id;
    k->erlvm = tgid;
    k->erlat = at - 3;
    return KMEM_TAG + at - 3;
}

enum { ATOM_MOST = 255 /* bytes */ };

/* Writes the text of an atom at a place, with a NUL; returns its length, 0 if it is none. */
RT rt_atom(u64 beam, u64 atom, u64 to)
{
    struct kbeam *v = AT(beam, sizeof(struct kbeam), 0);
    u64 i = atom >> KMEM_ATOM_BITS;
    if (!kmem_is_atom(atom) || v->atoms == 0)
        return 0;
    u64 block = word(v->atoms + i / KMEM_ATOMS * 8),
        at = block != 0 ? word(block + i % KMEM_ATOMS * 8) : 0;
    if (at == 0 || word32(at + 16) != (u32)i)
        return 0;
    u64 n = word32(at + 24) & 0xffff, text = word(at + 32) + v->text;
    void *out = AT(to, ATOM_MOST + 1, 0);
    HIDE(n);
    if (n > ATOM_MOST)
        return 0;
    HIDE(n);
    if (bpf_probe_read_user(out, n, (void *)text) != 0)
        return 0;
    HIDE(n);
    PUT(u8, to + n, 0, 0);
    return n;
}

/* Writes the function, m:f/a, whose three words are at an address, in at most KMEM_NAME_ROOM bytes.
 * The number of arguments is the third one, shifted. Returns whether it is one. */
RT rt_began(u64 beam, u64 at, u64 to, u64 shift)
{
    u64 n = rt_atom(beam, word(at), to), arity = word(at + 16) >> (shift & 63) & 0xff;
    if (n == 0)
        return 0;
    PUT(u8, to + n, ':', 0);
    to += n + 1;
    to += rt_atom(beam, word(at + 8), to);
    PUT(u8, to, '/', 0);
    for (u64 power = 100; power > 0; power /= 10) {
        if (arity >= power || power == 1) {
            to++;
            PUT(u8, to, (u8)('0' + arity / power % 10), 0);
        }
    }
    PUT(u8, to + 1, 0, 0);
    return 1;
}

/* Returns the value of a pair with this key; 0: it is none. */
INLINE u64 value_of(u64 pair, u64 key)
{
    return (pair & KMEM_TAGS) == KMEM_BOXED && word(pair - KMEM_BOXED) == KMEM_PAIR &&
                   word(pair - KMEM_BOXED + 8) == key
               ? word(pair - KMEM_BOXED + 16)
               : 0;
}

/* Returns the address of the three words of '$initial_call' in a process's dictionary; 0: it has
 * none. (kbeam.h tells what a dictionary looks like.) */
RT rt_initial_call(u64 beam, u64 process)
{
    struct kbeam *v = AT(beam, sizeof(struct kbeam), 0);
    u64 key = v->call, at = v->dictionary != 0 ? word(process + v->dictionary) : 0, value = 0;
    if (key == 0 || at == 0)
        return 0;
    u64 mask = word32(at), used = word32(at + 4), i = key >> KMEM_ATOM_BITS & mask;
    if (i >= used)
        i &= mask >> 1;
    u64 e = word(at + KMEM_DICTIONARY + i * 8);
    value = value_of(e, key);
    for (u64 cell = 0; cell < KMEM_CELLS && value == 0; cell++) {
        if ((e & KMEM_TAGS) != KMEM_LIST)
            break;
        value = value_of(word(e - KMEM_LIST), key);
        e = word(e - KMEM_LIST + 8);
    }
    return (value & KMEM_TAGS) == KMEM_BOXED && word(value - KMEM_BOXED) == KMEM_TRIPLE
               ? value - KMEM_BOXED + 8
               : 0;
}

/* erlname: the address of its text, the registered name, or the function with which the process
 * began. */
RT rt_erlname(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    u64 text = p + K(KSLOT) + __builtin_offsetof(struct kslot, erlname);
    u64 passed = rt_passed_text(p, KABOUT_ERLNAME);
    if (passed != 0)
        return passed;
    u64 process = k->thread == 0 ? rt_process(p) : 0;
    if (process == 0)
        return KMEM_TAG + p + K(KSLOT) + __builtin_offsetof(struct kslot, erlpid) + KMEM_ERLPID - 1;
    u64 tgid = own_process(), beam = k->beam, id = k->id;
    struct kbeam *v = AT(beam, sizeof(struct kbeam), 0);
    u64 entry = v->entry != 0 ? word(process + v->entry) : 0, initial = v->initial;
    if (entry == 0 && id == k->nameid && tgid == k->namevm)
        return KMEM_TAG + text;
    k->nameid = 0;
    PUT(u8, text, 0, 0);
    if (entry != 0 && word(entry + 16) == process) {
        rt_atom(beam, word(entry + 32), text);
    } else {
        u64 call = rt_initial_call(beam, process);
        if (call != 0 && rt_began(beam, call, text, 4)) {
            k->nameid = id;
            k->namevm = tgid;
        } else if (initial != 0) {
            rt_began(beam, process + initial, text, 0);
        }
    }
    PUT(u8, text + KMEM_ERLNAME - 1, 0, 0);
    return KMEM_TAG + text;
}
