// turns.cc - a program whose functions do not all end by returning: exceptions, longjmp, other
// stacks, threads that end themselves. It reads lines and answers each with what it has counted.
#include <csetjmp>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <ucontext.h>

static int caught, cleaned, jumped, switched;
static jmp_buf place;
static ucontext_t here, there;
static char stack[65536];

struct cleanup {
    ~cleanup() { cleaned++; }
};

__attribute__((noinline)) static int deep(int n)
{
    cleanup c;
    if (n == 0)
        throw std::runtime_error("thrown");
    return deep(n - 1) + 1;
}

extern "C" __attribute__((noinline)) void jumps(int n)
{
    if (n == 0)
        longjmp(place, 1);
    jumps(n - 1);
    asm volatile("");
}

extern "C" __attribute__((noinline)) void goes()
{
    swapcontext(&there, &here);
    asm volatile("");
}

static void other()
{
    for (;;)
        goes();
}

extern "C" __attribute__((noinline)) void *ends(void *)
{
    cleanup c;
    pthread_exit(nullptr);
}

int main()
{
    char line[64];
    std::puts("");
    std::fflush(stdout);
    getcontext(&there);
    there.uc_stack = {stack, 0, sizeof stack};
    makecontext(&there, other, 0);
    while (std::fgets(line, sizeof line, stdin) != nullptr) {
        for (int i = 0; i < 50; i++) {
            pthread_t thread;
            try {
                deep(5);
            } catch (const std::exception &) {
                caught++;
            }
            if (setjmp(place) == 0)
                jumps(5);
            jumped++;
            swapcontext(&here, &there);
            switched++;
            pthread_create(&thread, nullptr, ends, nullptr);
            pthread_join(thread, nullptr);
        }
        std::printf("%d %d %d %d\n", caught, cleaned, jumped, switched);
        std::fflush(stdout);
    }
}
