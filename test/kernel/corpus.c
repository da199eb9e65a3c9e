/* corpus.c - asks the kernel once more for programs that were generated earlier: whether it still
 * takes them. They are read from the standard input:
 *
 *     map BYTES                             the map of all of them, once, at the begin
 *     program KIND NAME                     enum kload_kind
 *     function NARGS MAIN INNER NAME        as struct kfunc has it
 *     0123456789abcdef [NAME]               an instruction; the function that it calls or points to
 *     load
 *
 * For each "load" one line tells what came of it: "ok", "skip ERRNO WHY" where this machine takes
 * no such program (no privilege, a helper that the kernel lacks), or "refused ERRNO WHY". Nothing
 * is attached, so nothing runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "linux/kcode.h"
#include "linux/kload.h"
#include "linux/kplace.h"

enum { LINE_MOST = 512, CALLS_MOST = 1 << 16 };

static struct kcode code;
static int map = -1;
static char *called[CALLS_MOST]; /* the names that instructions have */

static _Noreturn void bad(const char *line)
{
    fprintf(stderr, "corpus: not understood: %s\n", line);
    exit(2);
}

/* Tells what came of a program, or of the map: fd is a descriptor, or an error. */
static void tell(int fd, int why, struct diags *d)
{
    const char *tag = d->count > 0 ? d->list[0].tag : NULL;
    const bool lacks = why == EPERM || why == ENOMEM || tag == NULL || strcmp(tag, "KERNEL_VERIFIER") != 0;
    if (fd >= 0)
        puts("ok");
    else
        printf("%s %d %s\n", lacks ? "skip" : "refused", why, d->count > 0 ? d->list[0].text : "");
}

static void read_function(const char *line)
{
    unsigned nargs;
    int main_, inner, at;
    if (sscanf(line, "function %u %d %d %n", &nargs, &main_, &inner, &at) < 3)
        bad(line);
    kcode_function(&code, line + at, nargs, main_ != 0);
    code.func[code.nfuncs - 1].inner = inner != 0;
}

static void read_instruction(const char *line)
{
    unsigned long long word;
    struct bpf_insn in;
    int at = 0;
    if (sscanf(line, "%16llx%n", &word, &at) < 1 || at != 16 || code.ninsns == CALLS_MOST)
        bad(line);
    memcpy(&in, &word, sizeof in);
    if (in.src_reg == BPF_PSEUDO_MAP_VALUE && in.code == (BPF_LD | BPF_DW | BPF_IMM))
        in.imm = map;
    called[code.ninsns] = line[at] == ' ' ? strdup(line + at + 1) : NULL;
    kcode_raw(&code, in.code, in.dst_reg, in.src_reg, in.off, in.imm);
}

/* Gives each instruction that names a function the distance to it. */
static void resolve(void)
{
    for (uint32_t i = 0; i < code.ninsns; i++) {
        bool found = called[i] == NULL;
        for (uint32_t k = 0; k < code.nfuncs && !found; k++) {
            found = strcmp(code.func[k].name, called[i]) == 0;
            if (found)
                code.insn[i].imm = (int32_t)code.func[k].start - (int32_t)i - 1;
        }
        if (!found)
            bad(called[i]);
        free(called[i]);
        called[i] = NULL;
    }
}

static void load(enum kload_kind kind, const char *name)
{
    struct diags d;
    diags_init(&d);
    resolve();
    if (kind == KLOAD_PLACES && !kplaces_many())
        kind = KLOAD_PLACE;
    errno = 0;
    const int fd = kload_program(&code, kind, name, &d);
    tell(fd, errno, &d);
    if (fd >= 0)
        close(fd);
    diags_free(&d);
    kcode_free(&code);
}

/* Makes the map. Where there can be none, this is told of each program instead. */
static bool make_map(size_t n, struct diags *d)
{
    void *at;
    errno = 0;
    map = kload_ready(d) == 0 ? kload_map(n, &at, d) : -1;
    return map >= 0;
}

int main(void)
{
    static const uint64_t none[KCONSTS];
    char line[LINE_MOST], name[LINE_MOST] = "";
    struct diags lacking;
    unsigned kind = 0;
    int why = 0, at;
    diags_init(&lacking);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "map ", 4) == 0) {
            why = make_map(strtoull(line + 4, NULL, 10), &lacking) ? 0 : errno;
        } else if (sscanf(line, "program %u %n", &kind, &at) == 1) {
            snprintf(name, sizeof name, "%s", line + at);
            kcode_init(&code, map, none);
        } else if (strncmp(line, "function ", 9) == 0) {
            read_function(line);
        } else if (strcmp(line, "load") != 0) {
            read_instruction(line);
        } else if (map < 0) {
            tell(-1, why, &lacking);
            kcode_free(&code);
        } else {
            load((enum kload_kind)kind, name);
        }
    }
    diags_free(&lacking);
    return 0;
}
