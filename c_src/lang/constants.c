/* constants.c - the named constants of D's library: errors, signals, states, flags, registers.
 *
 * Other systems keep them as inlines in D files. Here they are a table, because reading hundreds of
 * lines on every run would take longer than compiling most programs. They behave like those
 * inlines: integer constants that cannot be redeclared, each available from some version of the
 * language on, and none of them with the option nolibs. A value is this system's if the system
 * defines the constant, otherwise that of the systems that D comes from. */
#include <errno.h>
#include <fcntl.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "lang/prog.h"

#define V(major, minor) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 12)

struct constant {
    const char *name;
    int64_t value;
    enum type_id type;
    uint32_t version;
};

#define SYSTEM(name)                                                                               \
    {                                                                                              \
#name, name, T_INT, V(1, 0)                                                                \
    }
#define CONST(name, value)                                                                         \
    {                                                                                              \
#name, value, T_INT, V(1, 0)                                                               \
    }
#define STATE(name, value)                                                                         \
    {                                                                                              \
#name, value, T_CHAR, V(1, 0)                                                              \
    }
#define NEWER(name, value, version)                                                                \
    {                                                                                              \
#name, value, T_INT, version                                                               \
    }

/* clang-format off */
static const struct constant constants[] = {
    /* errno */
    SYSTEM(EPERM), SYSTEM(ENOENT), SYSTEM(ESRCH), SYSTEM(EINTR), SYSTEM(EIO), SYSTEM(ENXIO), SYSTEM(E2BIG),
    SYSTEM(ENOEXEC), SYSTEM(EBADF), SYSTEM(ECHILD), SYSTEM(EAGAIN), SYSTEM(ENOMEM), SYSTEM(EACCES), SYSTEM(EFAULT),
    SYSTEM(ENOTBLK), SYSTEM(EBUSY), SYSTEM(EEXIST), SYSTEM(EXDEV), SYSTEM(ENODEV), SYSTEM(ENOTDIR), SYSTEM(EISDIR),
    SYSTEM(EINVAL), SYSTEM(ENFILE), SYSTEM(EMFILE), SYSTEM(ENOTTY), SYSTEM(ETXTBSY), SYSTEM(EFBIG), SYSTEM(ENOSPC),
    SYSTEM(ESPIPE), SYSTEM(EROFS), SYSTEM(EMLINK), SYSTEM(EPIPE), SYSTEM(EDOM), SYSTEM(ERANGE), SYSTEM(EDEADLK),
    SYSTEM(ENAMETOOLONG), SYSTEM(ENOLCK), SYSTEM(ENOSYS), SYSTEM(ENOTEMPTY), SYSTEM(ELOOP), SYSTEM(EWOULDBLOCK),
    SYSTEM(ENOMSG), SYSTEM(EIDRM), SYSTEM(ECHRNG), SYSTEM(EL2NSYNC), SYSTEM(EL3HLT), SYSTEM(EL3RST), SYSTEM(ELNRNG),
    SYSTEM(EUNATCH), SYSTEM(ENOCSI), SYSTEM(EL2HLT), SYSTEM(EBADE), SYSTEM(EBADR), SYSTEM(EXFULL), SYSTEM(ENOANO),
    SYSTEM(EBADRQC), SYSTEM(EBADSLT), SYSTEM(EDEADLOCK), SYSTEM(EBFONT), SYSTEM(ENOSTR), SYSTEM(ENODATA),
    SYSTEM(ETIME), SYSTEM(ENOSR), SYSTEM(ENONET), SYSTEM(ENOPKG), SYSTEM(EREMOTE), SYSTEM(ENOLINK), SYSTEM(EADV),
    SYSTEM(ESRMNT), SYSTEM(ECOMM), SYSTEM(EPROTO), SYSTEM(EMULTIHOP), SYSTEM(EDOTDOT), SYSTEM(EBADMSG),
    SYSTEM(EOVERFLOW), SYSTEM(ENOTUNIQ), SYSTEM(EBADFD), SYSTEM(EREMCHG), SYSTEM(ELIBACC), SYSTEM(ELIBBAD),
    SYSTEM(ELIBSCN), SYSTEM(ELIBMAX), SYSTEM(ELIBEXEC), SYSTEM(EILSEQ), SYSTEM(ERESTART), SYSTEM(ESTRPIPE),
    SYSTEM(EUSERS), SYSTEM(ENOTSOCK), SYSTEM(EDESTADDRREQ), SYSTEM(EMSGSIZE), SYSTEM(EPROTOTYPE),
    SYSTEM(ENOPROTOOPT), SYSTEM(EPROTONOSUPPORT), SYSTEM(ESOCKTNOSUPPORT), SYSTEM(EOPNOTSUPP), SYSTEM(ENOTSUP),
    SYSTEM(EPFNOSUPPORT), SYSTEM(EAFNOSUPPORT), SYSTEM(EADDRINUSE), SYSTEM(EADDRNOTAVAIL), SYSTEM(ENETDOWN),
    SYSTEM(ENETUNREACH), SYSTEM(ENETRESET), SYSTEM(ECONNABORTED), SYSTEM(ECONNRESET), SYSTEM(ENOBUFS),
    SYSTEM(EISCONN), SYSTEM(ENOTCONN), SYSTEM(ESHUTDOWN), SYSTEM(ETOOMANYREFS), SYSTEM(ETIMEDOUT),
    SYSTEM(ECONNREFUSED), SYSTEM(EHOSTDOWN), SYSTEM(EHOSTUNREACH), SYSTEM(EALREADY), SYSTEM(EINPROGRESS),
    SYSTEM(ESTALE), SYSTEM(EUCLEAN), SYSTEM(ENOTNAM), SYSTEM(ENAVAIL), SYSTEM(EISNAM), SYSTEM(EREMOTEIO),
    SYSTEM(EDQUOT), SYSTEM(ENOMEDIUM), SYSTEM(EMEDIUMTYPE), SYSTEM(ECANCELED), SYSTEM(ENOKEY), SYSTEM(EKEYEXPIRED),
    SYSTEM(EKEYREVOKED), SYSTEM(EKEYREJECTED), SYSTEM(EOWNERDEAD), SYSTEM(ENOTRECOVERABLE), SYSTEM(ERFKILL),
    SYSTEM(EHWPOISON),
    /* signals */
    SYSTEM(SIGHUP), SYSTEM(SIGINT), SYSTEM(SIGQUIT), SYSTEM(SIGILL), SYSTEM(SIGTRAP), SYSTEM(SIGABRT), SYSTEM(SIGIOT),
    SYSTEM(SIGBUS), SYSTEM(SIGFPE), SYSTEM(SIGKILL), SYSTEM(SIGUSR1), SYSTEM(SIGSEGV), SYSTEM(SIGUSR2),
    SYSTEM(SIGPIPE), SYSTEM(SIGALRM), SYSTEM(SIGTERM), SYSTEM(SIGSTKFLT), SYSTEM(SIGCHLD), CONST(SIGCLD, SIGCHLD),
    SYSTEM(SIGCONT), SYSTEM(SIGSTOP), SYSTEM(SIGTSTP), SYSTEM(SIGTTIN), SYSTEM(SIGTTOU), SYSTEM(SIGURG),
    SYSTEM(SIGXCPU), SYSTEM(SIGXFSZ), SYSTEM(SIGVTALRM), SYSTEM(SIGPROF), SYSTEM(SIGWINCH), SYSTEM(SIGIO),
    SYSTEM(SIGPOLL), SYSTEM(SIGPWR), SYSTEM(SIGSYS),
    CONST(SIGRTMIN, 32), CONST(SIGRTMAX, 64), /* the kernel's; C libraries keep the first for themselves */
    /* fault codes, arg4 of ERROR: language.md 10.4 */
#define WORD_FAULT(num, name, value, text) CONST(DTRACEFLT_##name, num),
#include "words/faults.list"
#undef WORD_FAULT
    /* networks */
    SYSTEM(AF_INET), SYSTEM(AF_INET6), SYSTEM(ARPHRD_ETHER), SYSTEM(ARPHRD_INFINIBAND),
    SYSTEM(IPPROTO_IP), SYSTEM(IPPROTO_ICMP), SYSTEM(IPPROTO_IGMP), SYSTEM(IPPROTO_IPIP), SYSTEM(IPPROTO_TCP),
    SYSTEM(IPPROTO_EGP), SYSTEM(IPPROTO_PUP), SYSTEM(IPPROTO_UDP), SYSTEM(IPPROTO_IDP), SYSTEM(IPPROTO_DCCP),
    SYSTEM(IPPROTO_IPV6), SYSTEM(IPPROTO_ROUTING), SYSTEM(IPPROTO_FRAGMENT), SYSTEM(IPPROTO_RSVP),
    SYSTEM(IPPROTO_GRE), SYSTEM(IPPROTO_ESP), SYSTEM(IPPROTO_AH), SYSTEM(IPPROTO_ICMPV6), SYSTEM(IPPROTO_NONE),
    SYSTEM(IPPROTO_DSTOPTS), SYSTEM(IPPROTO_PIM), SYSTEM(IPPROTO_COMP), SYSTEM(IPPROTO_SCTP),
    SYSTEM(IPPROTO_UDPLITE), SYSTEM(IPPROTO_RAW),
    NEWER(PCAP_NULL, 0, V(1, 12)), NEWER(PCAP_ETHER, 1, V(1, 12)), NEWER(PCAP_PPP, 9, V(1, 12)),
    NEWER(PCAP_IP, 12, V(1, 12)), NEWER(PCAP_WIFI, 105, V(1, 12)), NEWER(PCAP_IPOIB, 242, V(1, 12)),
    /* processes and threads: psinfo_t, lwpsinfo_t; reasons that a child reports */
    STATE(SSLEEP, 1), STATE(SRUN, 2), STATE(SZOMB, 3), STATE(SSTOP, 4), STATE(SIDL, 5), STATE(SONPROC, 6),
    STATE(SWAIT, 7), STATE(PR_MODEL_ILP32, 1), STATE(PR_MODEL_LP64, 2),
    CONST(PR_STOPPED, 0x1), CONST(PR_ISTOP, 0x2), CONST(PR_DSTOP, 0x4), CONST(PR_STEP, 0x8), CONST(PR_ASLEEP, 0x10),
    CONST(PR_PCINVAL, 0x20), CONST(PR_ASLWP, 0x40), CONST(PR_AGENT, 0x80), CONST(PR_DETACH, 0x100),
    CONST(PR_DAEMON, 0x200), CONST(PR_ISSYS, 0x1000), CONST(PR_VFORKP, 0x2000), CONST(PR_ORPHAN, 0x4000),
    CONST(PR_FORK, 0x100000), CONST(PR_RLC, 0x200000), CONST(PR_KLC, 0x400000), CONST(PR_ASYNC, 0x800000),
    CONST(PR_MSACCT, 0x1000000), CONST(PR_BPTADJ, 0x2000000), CONST(PR_PTRACE, 0x4000000),
    CONST(PR_MSFORK, 0x8000000), CONST(PR_IDLE, 0x10000000),
    SYSTEM(CLD_EXITED), SYSTEM(CLD_KILLED), SYSTEM(CLD_DUMPED), SYSTEM(CLD_TRAPPED), SYSTEM(CLD_STOPPED),
    SYSTEM(CLD_CONTINUED),
    /* files and buffers: fileinfo_t, bufinfo_t; locks */
    NEWER(O_ACCMODE, O_ACCMODE, V(1, 1)), NEWER(O_RDONLY, O_RDONLY, V(1, 1)), NEWER(O_WRONLY, O_WRONLY, V(1, 1)),
    NEWER(O_RDWR, O_RDWR, V(1, 1)), NEWER(O_APPEND, O_APPEND, V(1, 1)), NEWER(O_CREAT, O_CREAT, V(1, 1)),
    NEWER(O_DSYNC, O_DSYNC, V(1, 1)), NEWER(O_EXCL, O_EXCL, V(1, 1)), NEWER(O_NOCTTY, O_NOCTTY, V(1, 1)),
    NEWER(O_NONBLOCK, O_NONBLOCK, V(1, 1)), NEWER(O_NDELAY, O_NDELAY, V(1, 1)), NEWER(O_RSYNC, O_RSYNC, V(1, 1)),
    NEWER(O_SYNC, O_SYNC, V(1, 1)), NEWER(O_TRUNC, O_TRUNC, V(1, 1)),
    CONST(B_BUSY, 0x1), CONST(B_DONE, 0x2), CONST(B_ERROR, 0x4), CONST(B_PAGEIO, 0x10), CONST(B_PHYS, 0x20),
    CONST(B_READ, 0x40), CONST(B_WRITE, 0x100), CONST(B_ASYNC, 0x400),
    CONST(RW_WRITER, 0), CONST(RW_READER, 1),
    /* registers: indexes of uregs[] */
#if defined __x86_64__
    CONST(R_R15, 0), CONST(R_R14, 1), CONST(R_R13, 2), CONST(R_R12, 3), CONST(R_RBP, 4), CONST(R_RBX, 5),
    CONST(R_R11, 6), CONST(R_R10, 7), CONST(R_R9, 8), CONST(R_R8, 9), CONST(R_RAX, 10), CONST(R_RCX, 11),
    CONST(R_RDX, 12), CONST(R_RSI, 13), CONST(R_RDI, 14), CONST(R_ERR, 15), CONST(R_RIP, 16), CONST(R_CS, 17),
    CONST(R_RFL, 18), CONST(R_RSP, 19), CONST(R_SS, 20), CONST(R_DS, 21), CONST(R_ES, 22), CONST(R_FS, 23),
    CONST(R_GS, 24), CONST(R_TRAPNO, 25),
    CONST(R_EAX, 10), CONST(R_EBX, 5), CONST(R_ECX, 11), CONST(R_EDX, 12), CONST(R_ESI, 13), CONST(R_EDI, 14),
    CONST(R_EBP, 4), CONST(R_ESP, 19), CONST(R_EIP, 16), CONST(R_EFL, 18),
    CONST(R_PC, 16), CONST(R_FP, 4), CONST(R_SP, 19), CONST(R_PS, 18), CONST(R_R0, 10), CONST(R_R1, 5),
#elif defined __aarch64__
    CONST(R_X0, 0), CONST(R_X1, 1), CONST(R_X2, 2), CONST(R_X3, 3), CONST(R_X4, 4), CONST(R_X5, 5), CONST(R_X6, 6),
    CONST(R_X7, 7), CONST(R_X8, 8), CONST(R_X9, 9), CONST(R_X10, 10), CONST(R_X11, 11), CONST(R_X12, 12),
    CONST(R_X13, 13), CONST(R_X14, 14), CONST(R_X15, 15), CONST(R_X16, 16), CONST(R_X17, 17), CONST(R_X18, 18),
    CONST(R_X19, 19), CONST(R_X20, 20), CONST(R_X21, 21), CONST(R_X22, 22), CONST(R_X23, 23), CONST(R_X24, 24),
    CONST(R_X25, 25), CONST(R_X26, 26), CONST(R_X27, 27), CONST(R_X28, 28), CONST(R_X29, 29), CONST(R_X30, 30),
    CONST(R_SP, 31), CONST(R_PC, 32), CONST(R_PSTATE, 33), CONST(R_FP, 29),
#endif
};
/* clang-format on */

void names_constants(struct lang *l)
{
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        const struct constant *c = &constants[i];
        struct ident *id = names_add(l, &l->globals, c->name, ID_INT);
        id->type = &type_c[c->type];
        id->num = (uint64_t)c->value;
        id->version = c->version;
    }
}
