/* usdt.c - USDT probes of the agent, one for each kind of event, for tools that know nothing of D:
 * bpftrace, perf, SystemTap. The D function usdt() fires them.
 *
 * A probe is a place in a function, where such a tool has the kernel put a breakpoint; a semaphore,
 * which the kernel raises while a tool is attached; and a note in the file, which says where these
 * are, and where the arguments. */
#include "beam/agent.h"

#include <string.h>

#include "arch/arch.h"
#include "words/probekind.h"

enum { SITE = 8, SITES = 256 }; /* bytes of a place; kinds, and more */

/* The places, by kind, each a function of its own that is called with the address of the arguments;
 * and the semaphores. A note has a name's "-" as "__", and the kind of erltrace:probe as "probe".
 */
#define SITE_SESSION(num, text)
#define SITE_TRACE(num, text)                  "    erltrace_site " #num ", " text "\n"
#define SITE_SERVER                            SITE_TRACE
#define SITE_CALL                              SITE_TRACE
#define SITE_FUNCTION                          SITE_TRACE
#define WORD_PROBE(num, name, by, text, needs) SITE_##by(num, text)
__asm__(".macro erltrace_site number, name\n"
        "    .org erltrace_usdt_sites + 8 * \\number\n"
        "    " ARCH_NOTHING "\n"
        "    ret\n"
        "    .pushsection .note.stapsdt, \"\", %note\n"
        "    .balign 4\n"
        "    .4byte 8, 3f - 2f, 3\n"
        "    .asciz \"stapsdt\"\n"
        "2:  .8byte erltrace_usdt_sites + 8 * \\number\n"
        "    .8byte erltrace_usdt_base\n"
        "    .8byte erltrace_usdt_semaphores + 2 * \\number\n"
        "    .asciz \"erlang\"\n"
        "    .ifc \\name, NAME\n"
        "    .ascii \"probe\"\n"
        "    .else\n"
        "    .irpc c, \\name\n"
        "    .ifc \\c, -\n"
        "    .ascii \"__\"\n"
        "    .else\n"
        "    .ascii \"\\c\"\n"
        "    .endif\n"
        "    .endr\n"
        "    .endif\n"
        "    .byte 0\n"
        "    .asciz \"" ARCH_USDT_ARGUMENTS "\"\n"
        "3:  .balign 4\n"
        "    .popsection\n"
        ".endm\n"
        "    .pushsection .stapsdt.base, \"a\", %progbits\n"
        "erltrace_usdt_base:\n"
        "    .zero 1\n"
        "    .popsection\n"
        "    .pushsection .probes, \"aw\", %progbits\n"
        "    .balign 2\n"
        "    .globl erltrace_usdt_semaphores\n"
        "    .hidden erltrace_usdt_semaphores\n"
        "    .type erltrace_usdt_semaphores, %object\n"
        "    .size erltrace_usdt_semaphores, 2 * 256\n"
        "erltrace_usdt_semaphores:\n"
        "    .zero 2 * 256\n"
        "    .popsection\n"
        "    .pushsection .text.erltrace_usdt_sites, \"ax\", %progbits\n"
        "    .balign 16\n"
        "    .globl erltrace_usdt_sites\n"
        "    .hidden erltrace_usdt_sites\n"
        "    .type erltrace_usdt_sites, %function\n"
        "erltrace_usdt_sites:\n"
#include "words/probes.list"
        "    .org erltrace_usdt_sites + 8 * 256\n"
        "    .size erltrace_usdt_sites, 8 * 256\n"
        "    .popsection\n"
        "    .purgem erltrace_site\n");
#undef WORD_PROBE

extern const char erltrace_usdt_sites[] __attribute__((visibility("hidden")));
extern const volatile uint16_t erltrace_usdt_semaphores[] __attribute__((visibility("hidden")));

_Static_assert(ENGINE_ARGS == 10, "as many as the notes have");

bool usdt_watched(uint32_t kind)
{
    return kind < SITES && erltrace_usdt_semaphores[kind] != 0;
}

void usdt_fire(uint32_t kind, const uint64_t *arg)
{
    void (*site)(const uint64_t *);
    const char *at = erltrace_usdt_sites + (size_t)SITE * kind;
    memcpy(&site, &at, sizeof site);
    site(arg);
}
