/* file.c - members of the kernel's structures, the files of a process and their paths. */
#include "rt.h"

enum {
    PATH_BYTES = 1024,
    NAME_BYTES = 255,
    COMPONENTS = 128, /* of a path, and mounts that it crosses */
    INTERNAL = 31,    /* bit of a file system's flags: only the kernel mounts it */
    FS_BYTES = 16,
};

/* Reads a member, from an address of the kernel. */
RT rt_field(u64 at, u64 which)
{
    struct kfield *f = AT(__builtin_offsetof(struct kctl, field) + which * sizeof *f, sizeof *f, 0);
    for (u64 i = 0; i < KMEM_HOPS; i++) {
        if (i >= f->n || at == 0)
            break;
        at += f->off[i & (KMEM_HOPS - 1)];
        if (i + 1 < f->n || !f->is_address) {
            u64 size = i + 1 < f->n ? 8 : f->size & 15, v = 0;
            if (size > 8 || bpf_probe_read_kernel(&v, size, (void *)at) != 0)
                return 0;
            if (i + 1 == f->n && f->is_signed && size == 4)
                v = (u64)(s64)(int32_t)v;
            at = v;
        }
    }
    return f->n > 0 ? at : 0;
}

/* The thread that the event is about. */
RT rt_curthread(u64 p)
{
    struct kslot *k = SLOT(p, 0);
    return k->thread != 0 ? k->thread : bpf_get_current_task();
}

/* A member of it. */
RT rt_task(u64 p, u64 which)
{
    return rt_field(rt_curthread(p), which);
}

/* uregs[]: a thread of the kernel has none; those of one that does not run are not read. */
RT rt_ureg(u64 p, u64 i)
{
    enum { REGISTERS = 21, KERNEL_THREAD = 1 << 21 };
    struct kslot *k = SLOT(p, 0);
    if (i >= REGISTERS || k->thread != 0 || (rt_task(p, KFIELD_FLAGS) & KERNEL_THREAD) != 0)
        return 0;
    return user_register(i);
}

/* Returns the address of the file of a descriptor; 0: there is none. */
RT rt_file(u64 p, u64 fd)
{
    u64 files = rt_task(p, KFIELD_FILES), file = 0;
    if (files == 0 || fd >= rt_task(p, KFIELD_NFILES))
        return 0;
    bpf_probe_read_kernel(&file, sizeof file, (void *)(files + fd * 8));
    return file;
}

INLINE u64 unknown(void)
{
    return KMEM_TAG + K(UNKNOWN);
}

struct climb {
    u64 at, first; /* places: the path so far, and of the room before it */
    u64 name, mount;
};

/* Puts a name and a slash before the path. */
INLINE u64 put_name(struct climb *w, u64 text, u64 n)
{
    if (n > NAME_BYTES)
        n = NAME_BYTES;
    if (w->at - w->first < n + 1)
        return 0;
    u64 at = ANY(w->at - n);
    void *to = AT(at, NAME_BYTES + 1, 0);
    HIDE(n);
    if (n > NAME_BYTES)
        return 0;
    bpf_probe_read_kernel(to, n, (void *)text);
    at--;
    PUT(u8, at, '/', 0);
    w->at = ANY(at);
    return 1;
}

static long climb(u32 i, struct climb *w)
{
    (void)i;
    u64 parent;
    if (w->name == rt_field(w->mount, KFIELD_MOUNT_ROOT)) {
        parent = rt_field(w->mount, KFIELD_MOUNT_ON);
        if (parent == w->mount || parent == 0)
            return 1;
        w->name = rt_field(w->mount, KFIELD_MOUNT_AT);
        w->mount = parent;
        return 0;
    }
    parent = rt_field(w->name, KFIELD_NAME_PARENT);
    if (parent == w->name || parent == 0)
        return 1;
    if (!put_name(w, rt_field(w->name, KFIELD_NAME_TEXT), rt_field(w->name, KFIELD_NAME_LENGTH)))
        return 1;
    w->name = parent;
    return 0;
}

/* Writes the path of a name in a mount; returns its address. */
RT rt_path(u64 p, u64 name, u64 mount)
{
    u64 to = rt_take(p, PATH_BYTES);
    if (to == 0)
        return 0;
    struct climb w = {ANY(to + PATH_BYTES - 1), ANY(to), ANY(name), ANY(mount)};
    PUT(u8, w.at, 0, 0);
    bpf_loop(COMPONENTS, climb, &w, 0);
    if (w.at == to + PATH_BYTES - 1) {
        w.at--;
        PUT(u8, w.at, '/', 0);
    }
    return KMEM_TAG + w.at;
}

/* Writes what stands for a path in a file system that is the kernel's own: "pipe:[N]". */
RT rt_no_path(u64 p, u64 name)
{
    u64 to = rt_take(p, PATH_BYTES), n = 0;
    if (to == 0)
        return 0;
    s64 got = bpf_probe_read_kernel_str(AT(to, FS_BYTES, 0), FS_BYTES,
                                        (void *)rt_field(name, KFIELD_NAME_FS));
    if (got <= 3 || got > FS_BYTES)
        return unknown();
    /* "sockfs", "pipefs", "anon_inodefs" */
    u8 first = GET(u8, to, 0);
    n = (u64)got - 3;
    if (first == 's') {
        PUT(u16, to + n, 'e' | 't' << 8, 0);
        n += 2;
    }
    PUT(u8, to + n, ':', 0);
    if (first == 'a') {
        void *at = AT(to + n + 1, NAME_BYTES + 1, 0);
        bpf_probe_read_kernel_str(at, NAME_BYTES, (void *)rt_field(name, KFIELD_NAME_TEXT));
        return KMEM_TAG + to;
    }
    PUT(u8, to + n + 1, '[', 0);
    /* The digits are written where there is room for them, and then moved. */
    u64 end = to + PATH_BYTES / 2, digits = rt_decimal(end, rt_field(name, KFIELD_NAME_INODE));
    rt_move(to + n + 2, digits, end - digits);
    PUT(u16, to + n + 2 + (end - digits), ']', 0);
    return KMEM_TAG + to;
}

/* d_path(): the path of a struct path. */
RT rt_d_path(u64 p, u64 addr)
{
    u64 name = rt_field(addr, KFIELD_PATH_NAME), mount = rt_field(addr, KFIELD_PATH_MOUNT);
    if (name == 0 || mount == 0)
        return unknown();
    if (rt_field(name, KFIELD_NAME_FS_FLAGS) >> INTERNAL & 1 &&
        rt_field(name, KFIELD_NAME_PARENT) == name)
        return rt_no_path(p, name);
    return rt_path(p, name, mount - rt_field(8, KFIELD_MOUNT) + 8);
}

/* fds[]: the address of a text for a descriptor. */
RT rt_fd_fs(u64 p, u64 fd)
{
    u64 file = rt_file(p, fd), fs = file != 0 ? rt_field(file, KFIELD_FILE_FS) : 0;
    return fs != 0 ? fs : unknown();
}

RT rt_fd_mount(u64 p, u64 fd)
{
    u64 file = rt_file(p, fd), mount = file != 0 ? rt_field(file, KFIELD_FILE_MOUNT) : 0;
    if (mount == 0)
        return unknown();
    mount = mount - rt_field(8, KFIELD_MOUNT) + 8;
    return rt_path(p, rt_field(mount, KFIELD_MOUNT_ROOT), mount);
}

/* The same as a number: a member of the file. */
RT rt_fd(u64 p, u64 fd, u64 which)
{
    u64 file = rt_file(p, fd);
    return file != 0 ? rt_field(file, which) : 0;
}
