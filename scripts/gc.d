#!/usr/bin/env -S erltrace -s
/*
 * gc.d - garbage collections: how long they take, how much they reclaim, which processes need them.
 *
 *   erltrace -p PID --for 10s -s scripts/gc.d
 *
 * Words are 8 bytes.
 */
#pragma D option quiet

erlang*:::gc_minor-start,
erlang*:::gc_major-start
{
    self->gc = timestamp;
}

erlang*:::gc_minor-end,
erlang*:::gc_major-end
/self->gc/
{
    @took[probename == "gc_minor-end" ? "minor, ns" : "major, ns", erlname] = quantize(timestamp - self->gc);
    @who[erlpid, erlname] = count();
    @words["words reclaimed"] = sum(arg1);
    self->gc = 0;
}

dtrace:::END
{
    trunc(@took, 10);
    printa(@took);
    trunc(@who, 10);
    printf("%-16s %-48s %10s\n", "PROCESS", "NAME", "COLLECTIONS");
    printa("%-16s %-48s %@10d\n", @who);
    printa(@words);
}
