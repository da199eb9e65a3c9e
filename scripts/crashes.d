#!/usr/bin/env -S erltrace -s
/*
 * crashes.d - processes that end abnormally: why, who had started them, and who was linked to them.
 *
 *   erltrace -p PID --for 10s -s scripts/crashes.d
 *
 * Abnormal is every reason but normal, shutdown and {shutdown, _}. Of {Reason, Stack}, as errors leave it, the reason is shown. The parent is
 * the process that spawned it; it is known of processes that were born while the script ran. Those that are older have - there. The second
 * table has the processes that were linked to one that ended and live on, as a supervisor does.
 *
 * page: view=list
 */
#pragma D option quiet

self int has_parent;
self string parent;
int has_ended[string];
string ended[string];

erlang*:::process-spawned
{
    self->parent = erlname(arg1);
    self->has_parent = 1;
}

erlang*:::process-exit
{
    this->two = is_tuple(reason) && tuple_size(reason) == 2;
    this->normal = reason == atom("normal") || reason == atom("shutdown") ||
        (this->two && term_element(reason, 1) == atom("shutdown"));
}

erlang*:::process-exit
/!this->normal/
{
    this->why = this->two && is_list(term_element(reason, 2)) ? term_text(term_element(reason, 1)) : term_text(reason);
    @crashes[erlname, this->why, self->has_parent ? self->parent : "-"] = count();
    ended[erlpid] = erlname;
    has_ended[erlpid] = 1;
}

erlang*:::process-exit
{
    self->parent = 0;
    self->has_parent = 0;
}

erlang*:::process-getting_unlinked
/has_ended[copyinstr(arg1)]/
{
    @linked[erlname, ended[copyinstr(arg1)]] = count();
    ended[copyinstr(arg1)] = 0;
}

dtrace:::END
{
    trunc(@crashes, 50);
    trunc(@linked, 50);
    printf("%-40s %-48s %-32s %9s\n", "PROCESS", "REASON", "PARENT", "PROCESSES");
    printa("%-40s %-48s %-32s %@9d\n", @crashes);
    printf("\n%-40s %-40s %9s\n", "WAS LINKED, AND LIVES", "ENDED", "PROCESSES");
    printa("%-40s %-40s %@9d\n", @linked);
}
