/* kmem.h - the memory that programs in the kernel share with this process, and what both know of
 * it.
 *
 * One map, which this process maps as well, holds
 *
 *     struct kctl | constants (strings, aggregations, probes) |
 *     struct kunwind, if stacks of programs are wanted | globals | dynamic store |
 *     slot 0 | slot 1 | ... | some bytes that stay unused
 *
 * From the globals on it is the memory of an engine (engine/impl.h), in which each slot is the part
 * of a thread with a struct kslot at its end: the reader drains it as it drains any other engine. A
 * program in the kernel takes a slot for the time of an event. Each CPU has KMEM_NESTED of them, as
 * an event may interrupt another one; the last slot belongs to what this process fires.
 *
 * Programs know all places as numbers: bytes from the start of the map. They are written in C
 * (bpf/) or generated (kgen.h), and they read layout and sizes as constants that the linker
 * (kcode.h) fills in: K(NAME).
 *
 * Addresses of this memory are shown to D as KMEM_TAG + place, which is an address of neither the
 * kernel nor a process. */
#ifndef ET_LINUX_KMEM_H
#define ET_LINUX_KMEM_H

#ifdef __bpf__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef short int16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef unsigned long uint64_t;
typedef long int64_t;
#else
#include <stdint.h>
#endif

#define KMEM_TAG   0x0e71000000000000ul
#define KMEM_LOWER 0x80000000u /* RECORD_ENTRY_LOWER */

enum {
    KMEM_NESTED = 2, /* slots of a CPU */
    KMEM_ARGS = 10,
    KMEM_CPUS = 256, /* CPUs counted separately; the last stands for all beyond */
    KMEM_SPECS = 16,
    KMEM_COMM = 16,
    KMEM_LOWEST = 4096,      /* no address that a process uses is lower */
    KMEM_ERLPID = 32,        /* bytes of the text of an id, the last of them 0 */
    KMEM_ERLNAME = 80,       /* bytes of a name's text, with a 0 */
    KMEM_NAME_ROOM = 672,    /* bytes in which it, or a function's, is made: two atoms and more */
    KMEM_CHUNK = 32,         /* words of an Erlang VM's memory that are read at once */
    KMEM_ERLSTACK = 4096,    /* words of the stack of an Erlang process that are looked at */
    KMEM_BEGIN = 4,          /* frames with which a thread of a dirty scheduler begins */
    KMEM_FIRST = 4,          /* frames in which its function is looked for */
    KMEM_CODE = 8192,        /* words of code before an address, in which its function begins */
    KMEM_BEAMS = 64,         /* Erlang VMs; a power of two */
    KMEM_PIECES = 16,        /* of memory in which one of them has compiled code */
    KMEM_KEY_MOST = 4096,    /* bytes of a key */
    KMEM_LOOKS = 64,         /* cells of an index examined for one key */
    KMEM_TRIES = 8,          /* looks at a slot of the dynamic store that is busy, and new starts */
    KMEM_STRING_MOST = 8192, /* option strsize */
    KMEM_FRAMES = 127,       /* of a stack */
    KMEM_ABOVE = 2,          /* frames of tracing itself that may lie above it */
    KMEM_WANTED = 16,        /* processes that stacks are wanted of, and not known */
    KMEM_SPACES = 64,        /* processes whose stacks can be read; a power of two */
    KMEM_MAPPINGS = 96,      /* files of one of them */
    KMEM_ROWS = 1 << 20      /* of all files together */
};

/* What words of an Erlang VM are. */
enum {
    KMEM_ATOM = 0xb,     /* the lowest bits of an atom, the number of which is above them ... */
    KMEM_ATOM_BITS = 6,  /* ... this many */
    KMEM_ATOM_MOST = 38, /* bits of an atom */
    KMEM_ATOMS = 1024,   /* in a block of their table */
    KMEM_ARITY = 256,    /* more than any function has arguments */
    KMEM_LIST = 1,       /* the lowest bits of a pointer to a list, or to a tuple */
    KMEM_BOXED = 2,
    KMEM_TAGS = 3,
    KMEM_PAIR = 2 << 6, /* the first word of a tuple of two, or three */
    KMEM_TRIPLE = 3 << 6,
    KMEM_DICTIONARY = 24, /* bytes before the entries of a dictionary */
    KMEM_CELLS = 8        /* pairs of one entry that are looked at */
};

static inline int kmem_is_atom(uint64_t word)
{
    return (word & ((1u << KMEM_ATOM_BITS) - 1)) == KMEM_ATOM && word >> KMEM_ATOM_MOST == 0;
}

/* What is known of an Erlang VM (kbeam.h). */
struct kbeam {
    uint32_t tgid;                 /* its process; 0: this is none */
    int32_t own;                   /* bytes: see kbeam.h */
    uint16_t back, there;          /* bytes */
    uint8_t shift, number, serial; /* bits of an id: before the number, of it, and of the serial */
    uint8_t text;                  /* bytes from where an atom points to its text */
    uint16_t entry, initial;       /* bytes; 0: not known */
    uint16_t dictionary;
    uint16_t stop,
        end; /* bytes: where a process has the top and the end of its stack; 0: not known */
    uint16_t unused;
    uint64_t atoms; /* the address of the blocks of the table of atoms; 0: not known */
    uint64_t call;  /* the atom '$initial_call'; 0: not known */
    uint64_t
        own_code; /* the atom erts_beamasm: of the VM's own code among the compiled; 0: not known */
    uint64_t code, code_end; /* where the code lies that it has compiled; 0: not known */
    /* The pieces of it, if other memory lies between them, by ascending addresses; 0: it is one. */
    uint32_t npieces, unused2;
    struct kpiece {
        uint64_t from, to;
    } piece[KMEM_PIECES];
};

/* How a range of a program's instructions leaves its stack frame (kcfi.h): where the CFA is, and
 * the frame pointer of the caller. */
enum kframe_kind {
    KFRAME_NONE,  /* no function is known there */
    KFRAME_RSP,   /* CFA = rsp + cfa */
    KFRAME_RBP,   /* CFA = rbp + cfa */
    KFRAME_PLT,   /* of a stub of the procedure linkage table */
    KFRAME_OTHER, /* described in a way that is not followed */
    KFRAME_END    /* there is no caller */
};
enum { KFRAME_LOST = -32768 };
struct kframe {
    uint32_t pc; /* of the file: up to the next row's */
    int32_t cfa;
    int16_t rbp; /* from the CFA to where it is saved; 0: it is not; KFRAME_LOST: not known */
    uint8_t kind, unused;
};

/* Where the files lie that processes run, n of them by ascending addresses, and the rows of each.
 */
struct kspace {
    uint32_t tgid; /* 0: this is none */
    uint32_t n;
    struct kmapping {
        uint64_t start, end;
        uint64_t base;      /* address - base is one of the file */
        uint32_t row, rows; /* the first, and how many */
    } map[KMEM_MAPPINGS];
};

/* What stacks of programs are read with. */
struct kunwind {
    uint32_t wanted[KMEM_WANTED];     /* processes of which it is not known, or not all */
    struct kspace space[KMEM_SPACES]; /* each at tgid % KMEM_SPACES, or up to KMEM_TRIES behind */
    struct kframe row[KMEM_ROWS];
};

/* Members of the kernel's structures: KMEM_FIELD(NAME, struct, path). A path goes on through a
 * pointer at "->"; with "&" it is the address of the member that is meant. */
#define KMEM_FIELDS(X)                                                                             \
    X(PID, task_struct, "tgid")                                                                    \
    X(TID, task_struct, "pid")                                                                     \
    X(UID, task_struct, "cred->uid.val")                                                           \
    X(GID, task_struct, "cred->gid.val")                                                           \
    X(COMM, task_struct, "&comm")                                                                  \
    X(PPID, task_struct, "real_parent->tgid")                                                      \
    X(PARENT, task_struct, "real_parent")                                                          \
    X(PGID, task_struct, "signal->pids[2]->numbers")                                               \
    X(SID, task_struct, "signal->pids[3]->numbers")                                                \
    X(THREAD_ID, task_struct, "thread_pid")                                                        \
    X(PROCESS_ID, task_struct, "signal->pids[1]")                                                  \
    X(GROUP_ID, task_struct, "signal->pids[2]")                                                    \
    X(SESSION_ID, task_struct, "signal->pids[3]")                                                  \
    X(EUID, task_struct, "cred->euid.val")                                                         \
    X(EGID, task_struct, "cred->egid.val")                                                         \
    X(PRI, task_struct, "prio")                                                                    \
    X(RAN, task_struct, "se.sum_exec_runtime")                                                     \
    X(FLAGS, task_struct, "flags")                                                                 \
    X(FILES, task_struct, "files->fdt->fd")                                                        \
    X(NFILES, task_struct, "files->fdt->max_fds")                                                  \
    X(FILE_PATH, file, "&f_path")                                                                  \
    X(FILE_OFFSET, file, "f_pos")                                                                  \
    X(FILE_FLAGS, file, "f_flags")                                                                 \
    X(FILE_FS, file, "f_inode->i_sb->s_type->name")                                                \
    X(FILE_MOUNT, file, "f_path.mnt")                                                              \
    X(PATH_MOUNT, path, "mnt")                                                                     \
    X(PATH_NAME, path, "dentry")                                                                   \
    X(MOUNT, mount, "&mnt")                                                                        \
    X(MOUNT_ROOT, mount, "mnt.mnt_root")                                                           \
    X(MOUNT_ON, mount, "mnt_parent")                                                               \
    X(MOUNT_AT, mount, "mnt_mountpoint")                                                           \
    X(NAME_PARENT, dentry, "d_parent")                                                             \
    X(NAME_LENGTH, dentry, "d_name.len")                                                           \
    X(NAME_TEXT, dentry, "d_name.name")                                                            \
    X(NAME_INODE, dentry, "d_inode->i_ino")                                                        \
    X(NAME_FS, dentry, "d_sb->s_type->name")                                                       \
    X(NAME_FS_FLAGS, dentry, "d_sb->s_flags")                                                      \
    X(MUTEX_OWNER, mutex, "owner.counter")                                                         \
    X(RWSEM_COUNT, rw_semaphore, "count.counter")                                                  \
    X(RWSEM_OWNER, rw_semaphore, "owner.counter")

enum kmem_field {
#define X(name, of, path) KFIELD_##name,
    KMEM_FIELDS(X)
#undef X
        KFIELDS
};

/* What a node keeps of an event that it passes on, in words: enum dif_kept. */
enum { KABOUT_ERLPID, KABOUT_ERLNAME, KABOUT_ERLFUNC, KABOUT_STACK, KABOUT_LOWER, KABOUT_NAME };
enum { KABOUT_TEXT = 64 /* added to the number of a value that is the address of a text */ };

enum { KMEM_HOPS = 4 };

/* How one is read: `off` of each of n structures, the last with `size` bytes; n 0: this kernel has
 * no such member. */
struct kfield {
    uint16_t off[KMEM_HOPS];
    uint8_t n, size, is_signed, is_address;
};

/* Since when a CPU runs its thread, and how long that had run before, in ns. */
struct krunning {
    uint64_t since, ran;
};

/* What all programs and this process share. */
struct kctl {
    uint32_t open;    /* 1: events fire */
    uint32_t exiting; /* exit() ran */
    uint32_t active;  /* as engine.active */
    uint32_t ending;  /* END fires: exit() does not end the firing */
    uint32_t spec[KMEM_SPECS];
    uint64_t wall;                                  /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    uint64_t missed;                                /* firings that found no slot */
    struct krunning running[KMEM_CPUS];             /* 0: no thread has been switched to yet */
    int32_t chip[KMEM_CPUS];                        /* of each CPU */
    uint64_t principal[KMEM_CPUS], aggs[KMEM_CPUS]; /* drops */
    struct kfield field[KFIELDS];
    /* Each at tgid % KMEM_BEAMS, or in one of the KMEM_TRIES cells from there on. */
    struct kbeam beam[KMEM_BEAMS];
};

/* A probe. After it come the EPIDs of the clauses that its program can run, in program order; 0:
 * not on this probe. */
struct kentry {
    uint64_t prov, mod, func, name; /* addresses for D */
    uint32_t id;
    uint32_t bound; /* whether any clause is on it */
};

/* An aggregation. */
struct kagg {
    int64_t param[4];
    uint64_t start; /* of each word of a new entry */
    uint32_t func, nwords;
};

/* What an event has while it holds a slot. */
struct kslot {
    uint64_t seq;    /* odd: taken */
    uint64_t entry;  /* place of its struct kentry */
    uint64_t thread; /* the struct task_struct that it fires for; 0: the running one */
    uint64_t about; /* of an event that a node passes on: where the process has what it has kept for
                       us, KABOUT_ERLPID and so on; 0: it is none */
    uint32_t epid;
    uint32_t at;      /* the instruction that may fault */
    uint32_t faulted; /* 1: a fault; 2: a dynamic variable found no room */
    uint32_t fault;
    uint64_t value;
    uint32_t in_error;
    uint32_t action;   /* of the fault: 1.., 0: the predicate */
    uint32_t offset;   /* bytes from the start of the action's instructions */
    uint32_t lower;    /* the next update of an aggregation is of a lower bound */
    uint64_t scratch;  /* bytes of scratch that the clause has used */
    uint64_t alloca;   /* of them: from alloca() and copyin() */
    uint64_t nborders; /* words of K(BORDERS) in which a clause has set a bit */
    uint64_t left;     /* units of work left to the firing */
    uint64_t have;     /* bits: what is known of the next ones, throughout a clause */
    uint64_t timestamp, vtimestamp, wall;
    uint64_t process, beam, id; /* the Erlang process, what is known of its VM, its id */
    uint64_t record, part;      /* places: of the record that is being written, and its next part */
    uint64_t half, data;        /* places: struct phalf that takes records, and its data */
    uint64_t half0, data0;      /* the same of the principal buffer */
    uint64_t agg, index, adata; /* places: struct ahalf, its index and its data */
    uint64_t error;             /* errno */
    uint64_t chilled, chillat;  /* ns that chill() took, and since when they count */
    uint64_t
        ways; /* of a key that is absent: how many slots are taken in its buckets, 32 bits each */
    uint64_t comm_length;
    char comm[KMEM_COMM];
    char erlpid[KMEM_ERLPID];      /* right behind comm */
    char erlname[KMEM_NAME_ROOM];  /* right behind erlpid */
    char erlfunc[KMEM_NAME_ROOM];  /* right behind erlname */
    uint64_t funcat, funcvm;       /* of which address it is the function's name, and of which VM */
    uint64_t func[4];              /* the address of the function's three words, and these */
    uint64_t lost, lostvm, lostat; /* an address in no known function, of which VM, and when */
    uint64_t chunk[KMEM_CHUNK];    /* what was read of a VM's memory */
    uint64_t erlframe[KMEM_FIRST + 1]; /* the first Erlang frames, and 0 */
    uint64_t erlid, erlvm;             /* of which process it is the text, and of which VM */
    uint64_t erlat;          /* place of its first byte; the text ends where erlpid does */
    uint64_t nameid, namevm; /* of which process erlname is from its dictionary; 0: of none */
    uint64_t arg[KMEM_ARGS];
    uint64_t kept[KMEM_ARGS + 2]; /* arguments, entry and EPID while ERROR fires */
    /* What a clause asks of stacks, read when the event begins. */
    uint64_t nkstack, nustack;
    uint64_t above; /* the first frames of `kstack`, which are not part of it */
    uint64_t kstack[KMEM_ABOVE + KMEM_FRAMES + 1]; /* up to the first 0 */
    uint64_t upid, ustack[KMEM_FRAMES + 1];
    uint64_t unwound;  /* 1: all C frames are there that could be found */
    uint64_t ended;    /* 1: the last of them is where the thread began */
    uint64_t compiled; /* the return address in compiled Erlang code that they end at; 0: none */
};

/* The constants of the linker: KMEM_CONST(NAME). */
#define KMEM_CONSTS(X)                                                                             \
    X(SIZE)    /* bytes of the map */                                                              \
    X(CONTENT) /* the same without the unused ones at its end */                                   \
    X(FIRST)   /* place of slot 0 */                                                               \
    X(STRIDE)  /* bytes of a slot */                                                               \
    X(LAST)    /* place of the last slot */                                                        \
    X(NCPU)                                                                                        \
    X(ONLY)    /* the CPU on which alone events fire; ~0: on all */                                \
    X(STRINGS) /* place of the strings, and their bytes */                                         \
    X(STRINGS_SIZE)                                                                                \
    X(UNKNOWN) /* place of the text for what is not known */                                       \
    X(GLOBAL)  /* place of the name of the only zone */                                            \
    X(AGGS)    /* place of the array of struct kagg, and their number */                           \
    X(NAGGS)                                                                                       \
    X(STRSIZE)                                                                                     \
    X(TASK_TLS)      /* where a task_struct has the address of its thread-local memory */          \
    X(NAMESPACE)     /* knamespace.h: its number; 0: that of processes is the first one */         \
    X(PID_LEVEL)     /* where a struct pid has the level of its innermost namespace, */            \
    X(PID_NUMBERS)   /* and its numbers; */                                                        \
    X(PID_NAMESPACE) /* where a struct pid_namespace has its own number */                         \
    X(BUDGET)                                                                                      \
    X(GLOBALS)                                                                                     \
    X(GLOBALS_SIZE)                                                                                \
    X(UNWIND) /* place of struct kunwind; 0: there is none */                                      \
    /* within a slot */                                                                            \
    X(KSLOT)                                                                                       \
    X(LOCALS)                                                                                      \
    X(LOCALS_SIZE)                                                                                 \
    X(KEY)                                                                                         \
    X(KEY_SIZE)                                                                                    \
    X(SCRATCH)                                                                                     \
    X(SCRATCH_SIZE)                                                                                \
    X(ALLOCA_SIZE)                                                                                 \
    X(BORDERS)                                                                                     \
    X(STRTOK)                                                                                      \
    X(STRTOK_STRIDE)                                                                               \
    X(HALF) /* struct phalf of the principal buffer, and of the other half */                      \
    X(HALF2)                                                                                       \
    X(DATA)                                                                                        \
    X(DATA2)                                                                                       \
    X(AGG) /* struct ahalf, and of the other half */                                               \
    X(AGG2)                                                                                        \
    X(INDEX)                                                                                       \
    X(INDEX2)                                                                                      \
    X(CELLS)    /* of an index */                                                                  \
    X(AGG_DATA) /* bytes of entries in a half */                                                   \
    X(SPEC)     /* the array of struct phalf of speculations */                                    \
    X(SPEC_DATA)                                                                                   \
    X(SPEC_STRIDE)                                                                                 \
    X(NSPEC)                                                                                       \
    X(SPEC_MOST) /* option nspec */                                                                \
    /* the dynamic store */                                                                        \
    X(BUCKETS)                                                                                     \
    X(TAGS)                                                                                        \
    X(GUARDS)                                                                                      \
    X(DYNS)                                                                                        \
    X(DYN_SIZE)                                                                                    \
    X(DYN_VALUE)                                                                                   \
    X(DYN_KEY)                                                                                     \
    /* members of engine/impl.h's structs */                                                       \
    X(T_FIRED)                                                                                     \
    X(T_OWN)                                                                                       \
    X(T_RECORDED)                                                                                  \
    X(T_UPDATES)                                                                                   \
    X(T_ERRORS)                                                                                    \
    X(T_FILLED)                                                                                    \
    X(T_OVERWRITTEN)                                                                               \
    X(T_DROP)                                                                                      \
    X(T_RAND)                                                                                      \
    X(P_USED)                                                                                      \
    X(P_LIMIT)                                                                                     \
    X(P_SIZE)                                                                                      \
    X(P_OLDEST)                                                                                    \
    X(P_END)                                                                                       \
    X(P_FULL)                                                                                      \
    X(P_DROP)                                                                                      \
    X(P_BYTES)                                                                                     \
    X(A_USED)                                                                                      \
    X(A_COUNT)

#endif
