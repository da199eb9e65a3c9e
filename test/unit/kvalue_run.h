/* kvalue_run.h - computes the values of kvalue.h over this program's memory, as kevent.c does in
 * the kernel. */
#ifndef TEST_KVALUE_RUN_H
#define TEST_KVALUE_RUN_H

#include <stdint.h>
#include <string.h>

#include "linux/kvalue.h"

struct event {
    uint64_t arg[32]; /* or registers */
    const void *task;
    uint64_t cpu, cookie, pid;
    const void *regs;
};

static int64_t extended(uint64_t v, unsigned size, bool is_signed)
{
    unsigned spare = 64 - size * 8;
    return is_signed ? (int64_t)(v << spare) >> spare : (int64_t)(v << spare >> spare);
}

static int64_t compute(const struct kvalue *v, const struct event *e)
{
    int64_t reg = 0, kept = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        const struct kstep *s = &v->step[i];
        int64_t n = s->kept ? kept : s->op == KSTEP_IN ? 0 : s->n;
        uint64_t word = 0;
        bool in = false;
        switch (s->op) {
        case KSTEP_ARG: reg = (int64_t)e->arg[n]; break;
        case KSTEP_CONST: reg = n; break;
        case KSTEP_TASK: reg = (int64_t)(uintptr_t)e->task; break;
        case KSTEP_REGS: reg = (int64_t)(uintptr_t)e->regs; break;
        case KSTEP_CPU: reg = (int64_t)e->cpu; break;
        case KSTEP_COOKIE: reg = (int64_t)e->cookie; break;
        case KSTEP_PID: reg = (int64_t)e->pid; break;
        case KSTEP_LOAD:
        case KSTEP_LOAD_USER:
            memcpy(&word, (const char *)(uintptr_t)reg + n, s->size);
            reg = extended(word, s->size, s->is_signed);
            break;
        case KSTEP_EXTEND: reg = extended((uint64_t)reg, s->size, s->is_signed); break;
        case KSTEP_KEEP: kept = reg; break;
        case KSTEP_ADD: reg = (int64_t)((uint64_t)reg + (uint64_t)n); break;
        case KSTEP_SUB: reg = (int64_t)((uint64_t)reg - (uint64_t)n); break;
        case KSTEP_AND: reg &= n; break;
        case KSTEP_OR: reg |= n; break;
        case KSTEP_SHL: reg = (int64_t)((uint64_t)reg << n); break;
        case KSTEP_SHR: reg = s->is_signed ? reg >> n : (int64_t)((uint64_t)reg >> n); break;
        case KSTEP_EQ: reg = reg == n; break;
        case KSTEP_NE: reg = reg != n; break;
        case KSTEP_LT: reg = reg < n; break;
        case KSTEP_GE: reg = reg >= n; break;
        case KSTEP_IN:
            for (int k = 0; k < s->size; k++)
                in |= reg == s->set[k];
            reg = in;
            break;
        case KSTEP_ERRNO: reg = reg < 0 && reg >= -4095 ? -reg : 0; break;
        }
    }
    return reg;
}

#endif
