/* kvalue.h - values that a probe of the kernel computes from what its tracepoint is given.
 *
 * A value is written as text in the tables (k_*.list), and compiled against the running kernel's
 * types into a few steps, in which every offset is a number:
 *
 * - value: choices with ";" between them. The first one that this kernel's types allow counts.
 * - choice: a place, then operators with their operands, which apply from left to right.
 * - place: a base, then any of "->" member, "." member, "[" index "]".
 * - base: one of the following, perhaps with "(" struct ")" behind it: it points to that struct.
 *   - "$" N, the tracepoint's argument N, counted from 1
 *   - "$" struct, its first argument that points to that struct
 *   - "task", the running thread's struct task_struct
 *   - "regs", the struct pt_regs with which it has entered the kernel
 *   - "cpu", the number of the CPU
 *   - a constant: a number, the name of an enumerator, or "sys_" and the name of a system call
 * - operator: + - & | << >> == != < >= in errno
 * - operand: a constant or a place
 *
 * `in` has several operands, up to KSTEP_SET constants, and is 1 for a value that is one of them;
 * system calls that the kind of machine does not have are left out. `errno` has none: it makes the
 * number of the error of a system call's result, 0 if that is none. One operand of a value may be a
 * place. The value of a struct or array is its address.
 *
 * The steps work on one register of 64 bits, and one more that keeps a value for later. */
#ifndef ET_LINUX_KVALUE_H
#define ET_LINUX_KVALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "linux/kbtf.h"

enum kstep_op {
    KSTEP_ARG,    /* argument n of the tracepoint, from 0 on, as the kernel passes it: 64 bits; of
                     a place in a program, the register (kregs.h) */
    KSTEP_CONST,  /* n */
    KSTEP_TASK,   /* the address of the running thread's struct task_struct */
    KSTEP_REGS,   /* the address of the struct pt_regs with which that has entered the kernel */
    KSTEP_CPU,    /* the number of the CPU */
    KSTEP_COOKIE, /* the number that was given when the place was attached to */
    KSTEP_PID,    /* the number of the running thread's process */
    KSTEP_LOAD,   /* `size` bytes of kernel memory at register + n, extended; 0: not readable */
    KSTEP_LOAD_USER, /* the same of the running process's memory */
    KSTEP_EXTEND,    /* the register's lowest `size` bytes, extended */
    KSTEP_KEEP,      /* copies the register into the one that keeps */
    /* The register and an operand: what is kept if `kept`, else n. */
    KSTEP_ADD,
    KSTEP_SUB,
    KSTEP_AND,
    KSTEP_OR,
    KSTEP_SHL,
    KSTEP_SHR, /* unsigned; signed if is_signed */
    /* These make 1 or 0, and compare as signed numbers. */
    KSTEP_EQ,
    KSTEP_NE,
    KSTEP_LT,
    KSTEP_GE,
    KSTEP_IN,   /* 1 if it is one of set[0 .. size - 1], else 0 */
    KSTEP_ERRNO /* -register if that is 1 to 4095, else 0 */
};

enum { KSTEP_SET = 4, KVALUE_STEPS = 16 };

struct kstep {
    enum kstep_op op;
    uint8_t size;   /* bytes 1, 2, 4 or 8; of a set: its members */
    bool is_signed; /* extended by the sign, not by zeros */
    bool kept;
    union {
        int64_t n;
        int32_t set[KSTEP_SET];
    };
};

struct kvalue {
    const struct kstep *step; /* n of them, at most KVALUE_STEPS */
    uint32_t n;
    uint32_t type; /* of the kernel's types; 0: a number without one */
};

/* Compiles the text for a tracepoint whose function has the type `proto`. The steps are made in
 * `mem`. Returns NULL, or why this kernel has no such value, as the rest of "this kernel ...", also
 * made there: kvalue_no_memory if memory is out. */
const char *kvalue_compile(struct kvalue *out, const char *text, const struct kbtf *b,
                           uint32_t proto, struct arena *mem);
extern const char kvalue_no_memory[];

#endif
