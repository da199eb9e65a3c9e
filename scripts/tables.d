#!/usr/bin/env -S erltrace -s
/*
 * tables.d - the busiest ETS tables: by table, and by the processes that use them.
 *
 *   erltrace -p PID --for 10s -s scripts/tables.d
 *
 * A named_table has its name, another one its name and its reference. WORDS IN are those of inserted objects. OWNED BY says whose the tables are,
 * with the largest sizes that were seen, once a second.
 *
 * page: view=list
 */
#pragma D option quiet
#pragma D option dynvarsize=4m
#pragma D option aggrows=20

int is_named[string];
string named[string];
int looked;

erlang*:::table
{
    named[copyinstr(arg1)] = arg3 ? copyinstr(arg2) : strjoin(strjoin(copyinstr(arg2), " "), copyinstr(arg1));
    is_named[copyinstr(arg1)] = 1;
    @objects[named[copyinstr(arg1)], erlname(copyinstr(arg0))] = max(arg4);
    @memory[named[copyinstr(arg1)], erlname(copyinstr(arg0))] = max(arg5);
}

/* What ets:new/2 was called with; another call of it does not come before it has returned. */
erlang*:ets:new/2:entry
{
    self->name = term_text(argv[0]);
}

erlang*:ets:new/2:return
/self->name != "" && term_text(retval) != self->name/
{
    named[term_text(retval)] = strjoin(strjoin(self->name, " "), term_text(retval));
    is_named[term_text(retval)] = 1;
}

erlang*:ets:new/2:return
{
    self->name = 0;
}

/* The last one of a look: all names are known. (Where the VM does not answer, they are not.) */
erlang*:::table
/arg6 == 0/
{
    looked = 1;
}

profile:::tick-1s
{
    looked = 1;
}

erlang*:::ets-read,
erlang*:::ets-write,
erlang*:::ets-delete,
erlang*:::ets-scan
/looked/
{
    this->table = is_named[copyinstr(arg1)] ? named[copyinstr(arg1)] : copyinstr(arg1);
    @tables[this->table] = count();
    @calls[this->table, copyinstr(arg2)] = count();
    @users[this->table, erlname] = count();
}

erlang*:::ets-write
/looked && arg3 != 4294967295/
{
    @words[is_named[copyinstr(arg1)] ? named[copyinstr(arg1)] : copyinstr(arg1)] = sum(arg3);
}

dtrace:::END
{
    printf("%-48s %-40s %10s\n", "TABLE", "", "USES");
    printa("%-48s %@51d\n", @tables);
    printf("\n%-48s %-40s %10s\n", "TABLE", "OPERATION", "USES");
    printa("%-48s %-40s %@10d\n", @calls);
    printf("\n%-48s %-40s %10s\n", "TABLE", "PROCESS", "USES");
    printa("%-48s %-40s %@10d\n", @users);
    printf("\n%-48s %-40s %10s\n", "TABLE", "", "WORDS IN");
    printa("%-48s %@51d\n", @words);
    printf("\n%-48s %-40s %10s %10s\n", "TABLE", "OWNED BY", "WORDS", "OBJECTS");
    printa("%-48s %-40s %@10d %@10d\n", @memory, @objects);
}
