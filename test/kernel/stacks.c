/* stacks.c - calls getppid N times by inner, middle and outer, and N times from code that it has
 * made, for each N on its standard input. Compiled with frame pointers. */
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

int main(void)
{
    char line[64];
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(made, code, sizeof code);
    mprotect(made, 4096, PROT_READ | PROT_EXEC);
    snprintf(line, sizeof line, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(line, "w");
    fprintf(map, "%lx %zx made by hand\n", (unsigned long)made, sizeof code);
    fclose(map);
    puts("");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
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
