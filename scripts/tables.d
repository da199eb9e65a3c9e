#!/usr/bin/env -S erltrace -s
/*
 * tables.d - the busiest ETS tables: by table, and by the processes that use them.
 *
 *   erltrace -p PID --for 10s -s scripts/tables.d
 *
 * A named_table has its name. Another one is shown by its reference, with its name in front if it was made while the script ran; ets:info/1 in
 * the node tells the name of an older one. WORDS IN are those of inserted objects.
 *
 * page: view=list
 */
#pragma D option quiet
#pragma D option dynvarsize=4m

int is_named[string];
string named[string];

/* What ets:new/2 was called with; another call of it does not come before it has returned. */
erlang*:ets:new/2:entry
{
    self->name = term_text(argv[0]);
}

erlang*:ets:new/2:return
/self->name != "" && term_text(retval) != self->name/
{
    named[term_text(retval)] = strjoin(self->name, " ");
    is_named[term_text(retval)] = 1;
}

erlang*:ets:new/2:return
{
    self->name = 0;
}

erlang*:::ets-read,
erlang*:::ets-write,
erlang*:::ets-delete,
erlang*:::ets-scan
{
    this->table = is_named[copyinstr(arg1)] ? strjoin(named[copyinstr(arg1)], copyinstr(arg1)) : copyinstr(arg1);
    @tables[this->table] = count();
    @calls[this->table, copyinstr(arg2)] = count();
    @users[this->table, erlname] = count();
}

erlang*:::ets-write
/arg3 != 4294967295/
{
    @words[is_named[copyinstr(arg1)] ? strjoin(named[copyinstr(arg1)], copyinstr(arg1)) : copyinstr(arg1)] = sum(arg3);
}

dtrace:::END
{
    trunc(@tables, 20);
    trunc(@calls, 20);
    trunc(@users, 20);
    trunc(@words, 20);
    printf("%-48s %-40s %10s\n", "TABLE", "", "USES");
    printa("%-48s %@51d\n", @tables);
    printf("\n%-48s %-40s %10s\n", "TABLE", "OPERATION", "USES");
    printa("%-48s %-40s %@10d\n", @calls);
    printf("\n%-48s %-40s %10s\n", "TABLE", "PROCESS", "USES");
    printa("%-48s %-40s %@10d\n", @users);
    printf("\n%-48s %-40s %10s\n", "TABLE", "", "WORDS IN");
    printa("%-48s %@51d\n", @words);
}
