/* places.c - functions and probes of a program that are counted: each line it reads is a letter and
 * a number, how often; it answers with the value of its semaphore. */
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

#ifdef __x86_64__
/* A probe as <sys/sdt.h> defines it, by hand. */
#define PROBE(name, semaphore, args)                                                               \
    "990: nop\n"                                                                                   \
    ".pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n"                                       \
    ".4byte 992f - 991f, 994f - 993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                \
    "993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                                            \
    ".asciz \"shop\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
        ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
        ".size _.stapsdt.base, 1\n.popsection\n");
#else
#define PROBE(name, semaphore, args) ""
#endif
unsigned short semaphore __attribute__((section(".probes"), used));
static volatile long sink;

NOINLINE long add(long a, int b)
{
    return a + b;
}

NOINLINE static int twice(int n)
{
    return n * 2;
}

/* One instruction of one byte, then the one that is told apart by its offset. */
__asm__(".text\n.type odd, @function\nodd: nop\n"
#ifdef __x86_64__
        "test $1, %edi\nje 1f\nnop\n1: ret\n"
#endif
        ".size odd, . - odd\n");
void odd(int n);

/* A probe with a hundred places, each of which has its argument in its own way. */
__asm__(".text\n.type offers, @function\noffers:\n"
#ifdef __x86_64__
        ".altmacro\n.macro offer n\n" PROBE("offer", "0", "-4@$\\n") ".endm\n"
        ".set i, 0\n.rept 100\noffer %i\n.set i, i + 1\n.endr\n.noaltmacro\nret\n"
#endif
        ".size offers, . - offers\n");
void offers(void);

NOINLINE static void sold_out(long item, int left)
{
    static volatile long prices[] = {7, -55, 9};
    __asm__ volatile(PROBE("sold__out", "0", "8@%0 -4@%1 1@%b1 -4@$-17 -8@(%2,%3,8)")
                     :
                     : "r"(item), "r"(left), "r"(prices), "r"(1L)
                     : "memory");
}

NOINLINE static void sale(int n)
{
    if (n % 2 != 0)
        __asm__ volatile(PROBE("sale", "semaphore", "-4@%0") : : "r"(n) : "memory");
    else
        __asm__ volatile(PROBE("sale", "semaphore", "-4@$-2") : : : "memory");
}

NOINLINE static void *adds(void *arg)
{
    for (long i = 0; i < (long)arg; i++)
        sink = add(i, 5);
    return NULL;
}

static void act(char what, long n)
{
    pthread_t thread;
    pid_t child;
    switch (what) {
    case 'a': adds((void *)n); break;
    case 't': /* in a thread of its own */
        if (pthread_create(&thread, NULL, adds, (void *)n) == 0)
            pthread_join(thread, NULL);
        break;
    case 'c': /* in another process, which has a memory of its own, ... */
    case 'v': /* ... or shares this one's */
        child = what == 'c' ? fork() : vfork();
        if (child == 0) {
            adds((void *)n);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        break;
    case '2':
        for (long i = 0; i < n; i++)
            sink = twice((int)i);
        break;
    case 'o':
        for (long i = 0; i < n; i++)
            odd((int)i);
        break;
    case 'f': /* from now on it may only read, write and end */
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        break;
    case 'm':
        for (long i = 0; i < n; i++)
            offers();
        break;
    case 's':
        for (long i = 0; i < n; i++)
            sold_out(i, (int)-i);
        break;
    case 'p':
        for (long i = 0; i < n && semaphore > 0; i++)
            sale((int)i);
        break;
    default: break;
    }
}

int main(void)
{
    char line[64];
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("");
    while (fgets(line, sizeof line, stdin) != NULL) {
        act(line[0], atol(line + 1));
        printf("%d\n", semaphore);
    }
    return 0;
}
