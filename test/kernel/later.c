/* later.c - a program that maps a library while it runs, and that library (-DLIBRARY; with -DMANY
 * it has so many functions more that there is no room for the texts of their probes). For each
 * pair of arguments, or each line that it reads, a path and a number, it maps the file, calls a
 * function there so often, unmaps the file unless that is never, and answers with what the function
 * has returned. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

#ifdef LIBRARY
#ifdef __x86_64__
#define PROBE                                                                                      \
    "990: nop\n"                                                                                   \
    ".pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n"                                       \
    ".4byte 992f - 991f, 994f - 993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                \
    "993: .8byte 990b, _.stapsdt.base, 0\n"                                                        \
    ".asciz \"later\"\n.asciz \"added\"\n.asciz \"-8@%0\"\n994: .balign 4\n.popsection\n"
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
        ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
        ".size _.stapsdt.base, 1\n.popsection\n");
#else
#define PROBE ""
#endif

NOINLINE void later_begins(void)
{
    __asm__ volatile("");
}

__attribute__((constructor)) static void begin(void)
{
    later_begins();
}

NOINLINE long later_add(long a, long b)
{
    const long sum = a + b;
    __asm__ volatile(PROBE : : "r"(sum) : "memory");
    return sum;
}

#ifdef MANY
#define ONE(n)                                                                                     \
    void later_one_of_many_functions_whose_name_is_so_long_that_the_names_take_much_room_##n(void) \
    {                                                                                              \
    }
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
#define SOME(n) EIGHT(n##0) EIGHT(n##1) EIGHT(n##2) EIGHT(n##3) EIGHT(n##4) EIGHT(n##5) EIGHT(n##6) EIGHT(n##7)
#define MORE(n) SOME(n##0) SOME(n##1) SOME(n##2) SOME(n##3) SOME(n##4) SOME(n##5) SOME(n##6) SOME(n##7)
MORE(0)
MORE(1)
MORE(2)
MORE(3)
MORE(4)
MORE(5)
MORE(6)
MORE(7)
#endif
#else
static int use(const char *path, long n)
{
    FILE *gate = path[0] == '@' ? fopen(path + 1, "r") : NULL; /* waits for who writes there */
    if (gate != NULL)
        return fclose(gate);
    void *library = dlopen(path, RTLD_NOW);
    long (*add)(long, long) =
        library != NULL ? (long (*)(long, long))(size_t)dlsym(library, "later_add") : NULL;
    long sum = 0;
    if (add == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    for (long i = 0; i < n; i++)
        sum = add(sum, 2);
    if (n > 0)
        dlclose(library);
    printf("%ld\n", sum);
    return fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[4096], path[4096];
    long n;
    for (int i = 1; i + 1 < argc; i += 2)
        if (use(argv[i], atol(argv[i + 1])) != 0)
            return 1;
    if (argc > 1)
        return 0;
    puts("");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL)
        if (sscanf(line, "%4095s %ld", path, &n) == 2 && use(path, n) != 0)
            return 1;
    return 0;
}
#endif
