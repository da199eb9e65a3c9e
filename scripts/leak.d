#!/usr/bin/env -S erltrace -s
/*
 * leak.d - processes whose memory grows: heaps, and binaries that a process keeps outside of its heap.
 *
 *   erltrace -p PID --for 60s -s scripts/leak.d
 *
 * Processes are shown by name; of those of one name, the largest counts. What is left after a collection, in KiB, and how much more that is than after the first collection that was seen. A process that grows from one
 * major collection to the next keeps what it gets; one that is not collected any more is not seen.
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option aggrows=15
#pragma D option dynvarsize=16m

self int heap, binaries, seen;

erlang*:::gc_minor-end,
erlang*:::gc_major-end
{
    this->heap = 8 * (arg2 + arg3) / 1024;
    this->binaries = 8 * arg5 / 1024;
    self->heap = self->seen ? self->heap : this->heap;
    self->binaries = self->seen ? self->binaries : this->binaries;
    self->seen = 1;
    @heap[erlname] = max(this->heap);
    @heapgrowth[erlname] = max(this->heap - self->heap);
    @binaries[erlname] = max(this->binaries);
    @growth[erlname] = max(this->binaries - self->binaries);
}

erlang*:::process-exit
/self->seen/
{
    self->heap = self->binaries = self->seen = 0;
}

dtrace:::END
{
    printf("%-32s %12s %12s\n", "HEAP", "GROWTH", "KIB");
    printa("%-32s %@12d %@12d\n", @heapgrowth, @heap);
    printf("\n%-32s %12s %12s\n", "BINARIES", "GROWTH", "KIB");
    printa("%-32s %@12d %@12d\n", @growth, @binaries);
}
