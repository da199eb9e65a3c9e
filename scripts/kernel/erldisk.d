#!/usr/bin/env -S erltrace -s
/*
 * erldisk.d [PID] - which Erlang processes wait for a disk, in each Erlang VM of this host, or in that of PID: how often, how long, in which call, on which file.
 *
 *   erltrace --for 10s -s scripts/kernel/erldisk.d
 *
 * A process that waits keeps its scheduler: with all schedulers for files in such waits (ten, unless the VM was started with +SDio), others wait for one. Nothing is
 * switched on in the VMs.
 *
 * page: PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

syscall::read:entry, syscall::readv:entry, syscall::pread64:entry, syscall::preadv:entry, syscall::write:entry, syscall::writev:entry,
syscall::pwrite64:entry, syscall::pwritev:entry, syscall::fsync:entry, syscall::fdatasync:entry, syscall::ftruncate:entry
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    self->file = fds[arg0].fi_pathname;
}

syscall:::entry
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    self->call = probefunc;
}

io:::wait-start
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    self->since = timestamp;
    self->name = erlname;
    self->process = erlpid;
    self->function = erlfunc;
}

io:::wait-done
/self->since/
{
    this->file = self->file == NULL ? "" : self->file;
    this->call = self->call == NULL ? "" : self->call;
    @waits[self->name] = quantize(timestamp - self->since);
    @total[self->name, self->process, self->function, this->call, this->file] = sum((timestamp - self->since) / 1000);
    @longest[self->name, self->process, self->function, this->call, this->file] = max((timestamp - self->since) / 1000);
    self->since = 0;
    self->name = 0;
    self->process = 0;
    self->function = 0;
}

syscall:::return
/self->call != NULL/
{
    self->call = 0;
    self->file = 0;
}

dtrace:::END
{
    trunc(@waits, 3);
    trunc(@total, 20);
    trunc(@longest, 10);
    printf("ns a wait");
    printa(@waits);
    printf("%-20s %-14s %-36s %-12s %-40s %10s\n", "NAME", "PROCESS", "FUNCTION", "CALL", "FILE", "US IN ALL");
    printa("%-20s %-14s %-36s %-12s %-40s %@10d\n", @total);
    printf("\n%-20s %-14s %-36s %-12s %-40s %10s\n", "NAME", "PROCESS", "FUNCTION", "CALL", "FILE", "US AT MOST");
    printa("%-20s %-14s %-36s %-12s %-40s %@10d\n", @longest);
}
