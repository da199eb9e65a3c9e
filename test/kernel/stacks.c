/* stacks.c - calls getppid N times by inner, middle and outer, and N times from code that it has
 * made, for each N on its standard input; for each bN, N times from code whose frame pointer leads
 * to a frame with the return address 1. Compiled with frame pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((noinline)) void inner(void)
{
    long is = 110; /* getppid */
    __asm__ volatile("syscall"
                     : "+a"(is)
                     : "r"(__builtin_frame_address(0)) /* so that there is one */
                     : "rcx", "r11", "memory");
}

__attribute__((noinline)) void middle(void)
{
    inner();
    __asm__ volatile("");
}

__attribute__((noinline)) void outer(void (*f)(void))
{
    f();
    __asm__ volatile("");
}

/* push %rbp; mov %rsp,%rbp; mov $110,%eax; syscall; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 110, 0,
                                     0,    0,    0x0f, 0x05, 0x5d, 0xc3};

/* push %rbp; push $1; push $0; mov %rsp,%rbp; mov $110,%eax; syscall; add $16,%rsp; pop %rbp; ret */
static const unsigned char bad[] = {0x55, 0x6a, 1, 0x6a, 0,    0x48, 0x89, 0xe5, 0xb8, 110, 0,
                                    0,    0,    0x0f, 0x05, 0x48, 0x83, 0xc4, 16,   0x5d, 0xc3};
enum { BAD_AT = 64 };

int main(void)
{
    char line[64];
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(made, code, sizeof code);
    memcpy((char *)made + BAD_AT, bad, sizeof bad);
    mprotect(made, 4096, PROT_READ | PROT_EXEC);
    snprintf(line, sizeof line, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(line, "w");
    fprintf(map, "%lx %zx made by hand\n", (unsigned long)made, sizeof code);
    fprintf(map, "%lx %zx made badly\n", (unsigned long)made + BAD_AT, sizeof bad);
    fclose(map);
    puts("");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        for (long n = line[0] == 'b' ? atol(line + 1) : 0; n > 0; n--)
            outer((void (*)(void))((char *)made + BAD_AT));
        for (long n = atol(line); n > 0; n--) {
            outer(middle);
            outer((void (*)(void))made);
        }
        puts("");
        fflush(stdout);
    }
    snprintf(line, sizeof line, "/tmp/perf-%d.map", (int)getpid());
    unlink(line);
    return 0;
}
