/* narrow.c - a program of 32 bits, without a C library, which may not be there for such ones. For
 * each byte that it reads it makes 17 system calls with the number 64: getppid, which is the number
 * of semget in programs of 64 bits. Then it answers with a line. */
enum { EXIT = 1, READ = 3, WRITE = 4, GETPPID = 64 };

static int call(int number, int a, const void *b, int c)
{
    int result;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"(a), "c"(b), "d"(c)
                     : "memory");
    return result;
}

__attribute__((noinline)) int inner(int n)
{
    for (int i = 0; i < n; i++)
        call(GETPPID, 0, 0, 0);
    return n;
}

__attribute__((noinline)) int outer(int n)
{
    return inner(n) + 1;
}

void begin(void);
void begin(void)
{
    char c;
    call(WRITE, 1, "\n", 1);
    while (call(READ, 0, &c, 1) == 1)
        if (c != '\n') {
            outer(17);
            call(WRITE, 1, "\n", 1);
        }
    call(EXIT, 0, 0, 0);
}

__asm__(".globl _start\n_start: xor %ebp, %ebp\ncall begin\nhlt\n");
