/* test_oncpu_dirty.c - the record of a scheduler, found from outside in its thread's own data. The
 * threads are real, their records are made up. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "beam/probe/oncpu_dirty.h"
#include "emulated.h"

enum { NORMAL = 3, DIRTY = NORMAL, STRANGER, THREADS, KEYS = 2, BACK = 5, RECORD = 16 };

static pthread_key_t keys[KEYS];
static struct one {
    pthread_t thread;
    int tid;
    uint64_t self;
    uint64_t record[RECORD];
    const void *data[KEYS]; /* what it has at the keys */
    sem_t ready, ends;
} all[THREADS];

static int memory;

static void *run(void *arg)
{
    struct one *o = arg;
    o->tid = (int)syscall(SYS_gettid);
    o->self = (uint64_t)pthread_self();
    for (int k = 0; k < KEYS; k++)
        pthread_setspecific(keys[k], o->data[k]);
    sem_post(&o->ready);
    sem_wait(&o->ends);
    return NULL;
}

static uint64_t record_of(const struct one *o)
{
    return (uint64_t)(uintptr_t)o->record;
}

/* Every thread but the stranger has its record at the first key. */
static void set_data(void)
{
    for (int i = 0; i < THREADS; i++) {
        all[i].data[0] = i == STRANGER ? NULL : all[i].record;
        all[i].data[1] = NULL;
    }
}

static void begin(void)
{
    needs_robust_lists();
    for (int i = 0; i < THREADS; i++) {
        sem_init(&all[i].ready, 0, 0);
        sem_init(&all[i].ends, 0, 0);
        assert_int_equal(pthread_create(&all[i].thread, NULL, run, &all[i]), 0);
        sem_wait(&all[i].ready);
    }
}

static void end(void)
{
    for (int i = 0; i < THREADS; i++) {
        sem_post(&all[i].ends);
        pthread_join(all[i].thread, NULL);
    }
}

static struct oncpu_dirty_place agreed(unsigned n)
{
    struct oncpu_dirty_place p = {0};
    for (unsigned i = 0; i < n; i++)
        oncpu_dirty_agree(&p, memory, all[i].tid, all[i].self, record_of(&all[i]));
    return p;
}

/* Expects an answer about a thread; where it is found, its record. */
static void expect(const struct oncpu_dirty_place *p, int i, enum oncpu_dirty_is is)
{
    uint64_t record = 0;
    assert_int_equal(oncpu_dirty_record_of(p, memory, BACK, all[i].tid, &record), is);
    if (is == ONCPU_DIRTY_FOUND)
        assert_int_equal(record, record_of(&all[i]));
}

static void a_record_is_found(void **state)
{
    (void)state;
    set_data();
    begin();
    const struct oncpu_dirty_place p = agreed(NORMAL), one = agreed(1);
    expect(&p, DIRTY, ONCPU_DIRTY_FOUND);
    expect(&one, DIRTY, ONCPU_DIRTY_FOUND);
    expect(&p, STRANGER, ONCPU_DIRTY_NOT);
    uint64_t record;
    assert_int_equal(oncpu_dirty_record_of(&p, memory, BACK, 0x7fffffff, &record),
                     ONCPU_DIRTY_UNPROVEN); /* there is no such thread */
    end();
}

static void nobody_has_agreed(void **state)
{
    (void)state;
    set_data();
    begin();
    const struct oncpu_dirty_place p = agreed(0);
    expect(&p, DIRTY, ONCPU_DIRTY_UNPROVEN);
    end();
}

/* The address of a normal scheduler's thread, or its record, is not where the others have it. */
static void they_do_not_agree(void **state)
{
    (void)state;
    set_data();
    all[1].data[0] = NULL;
    all[1].data[1] = all[1].record;
    begin();
    struct oncpu_dirty_place p = agreed(NORMAL);
    expect(&p, DIRTY, ONCPU_DIRTY_UNPROVEN);
    p = agreed(1);
    oncpu_dirty_agree(&p, memory, all[2].tid, all[1].self, record_of(&all[2]));
    expect(&p, DIRTY, ONCPU_DIRTY_UNPROVEN);
    p = agreed(1);
    oncpu_dirty_agree(&p, memory, all[2].tid, 0, record_of(&all[2]));
    expect(&p, DIRTY, ONCPU_DIRTY_UNPROVEN);
    end();
}

/* Two words have it. */
static void in_two_places(void **state)
{
    (void)state;
    set_data();
    for (int i = 0; i < NORMAL; i++)
        all[i].data[1] = all[i].record;
    begin();
    struct oncpu_dirty_place p = agreed(NORMAL - 1);
    expect(&p, DIRTY, ONCPU_DIRTY_UNPROVEN);
    end();
    all[NORMAL - 1].data[1] = NULL; /* one scheduler tells them apart */
    begin();
    p = agreed(NORMAL);
    expect(&p, DIRTY, ONCPU_DIRTY_FOUND);
    end();
}

/* What a thread has there leads nowhere. */
static void no_record(void **state)
{
    static char odd;
    (void)state;
    set_data();
    all[DIRTY].data[0] = (void *)((uintptr_t)&odd | 1);
    all[STRANGER].data[0] = (void *)(uintptr_t)4096;
    begin();
    const struct oncpu_dirty_place p = agreed(NORMAL);
    expect(&p, DIRTY, ONCPU_DIRTY_NOT);
    expect(&p, STRANGER, ONCPU_DIRTY_NOT);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_found), cmocka_unit_test(nobody_has_agreed),
        cmocka_unit_test(they_do_not_agree), cmocka_unit_test(in_two_places),
        cmocka_unit_test(no_record)};
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    for (int k = 0; k < KEYS; k++)
        if (pthread_key_create(&keys[k], NULL) != 0)
            return 1;
    return memory < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
