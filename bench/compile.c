/* compile.c - time to compile: compiles each given D script again and again, from its text and that
 * of the D libraries to a verified image, as the command does before it connects. Run it in the
 * folder that holds lib/.
 *
 *   compile ROUNDS FILE...   prints, for each: clauses, bytes of image, best and median time in
 *                            microseconds of processor time */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lang/encode.h"
#include "session/session.h"
#include "util/render.h"

enum { ROUNDS_MOST = 10000 };

static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other work on the host does not count */
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Compiles once; returns the time it took, or -1. */
static double compile_once(const char *file, const struct buf *text, uint32_t *clauses,
                           size_t *bytes)
{
    static char prog[] = "compile", module[] = "lists"; /* $1 */
    static char *const args[] = {prog, module};
    struct compile_source src = {
        .name = file, .text = buf_str(text), .len = text->len, .argc = 2, .argv = args};
    struct buf complaints = BUF_INIT, image = BUF_INIT;
    struct session s;
    double start = cpu_us();
    session_init(&s);
    s.libraries = "lib";
    s.opt.value[OPTION_argref] = 1;
    int err = session_add(&s, &src, NULL) != 0 || session_compile(&s) != 0;
    double took = cpu_us() - start;
    if (err == 0) {
        *clauses = s.img.nclauses;
        dif_encode(&s.img, &image);
        *bytes = image.len;
    }
    start = cpu_us();
    for (size_t i = 0; i < s.diags.count; i++)
        diag_render(&s.diags, &s.diags.list[i], &complaints);
    session_free(&s);
    took += cpu_us() - start;
    fputs(buf_str(&complaints), stderr);
    buf_free(&complaints);
    buf_free(&image);
    return err != 0 ? -1 : took;
}

static int read_file(const char *path, struct buf *b)
{
    char part[4096];
    size_t n;
    FILE *f = fopen(path, "rb");
    while (f != NULL && (n = fread(part, 1, sizeof part, f)) > 0)
        buf_add(b, part, n);
    if (f == NULL || ferror(f))
        perror(path);
    return f == NULL ? -1 : fclose(f);
}

int main(int argc, char **argv)
{
    static double took[ROUNDS_MOST];
    int rounds = argc > 2 ? atoi(argv[1]) : 0;
    if (rounds < 1 || rounds > ROUNDS_MOST)
        return 2;
    for (int i = 2; i < argc; i++) {
        struct buf text = BUF_INIT;
        uint32_t clauses = 0;
        size_t bytes = 0;
        if (read_file(argv[i], &text) != 0)
            return 1;
        for (int k = 0; k < rounds; k++) {
            took[k] = compile_once(argv[i], &text, &clauses, &bytes);
            if (took[k] < 0)
                return 1;
        }
        qsort(took, (size_t)rounds, sizeof *took, compare);
        printf("%u %zu %.1f %.1f\n", clauses, bytes, took[0], took[rounds / 2]);
        buf_free(&text);
    }
    return 0;
}
