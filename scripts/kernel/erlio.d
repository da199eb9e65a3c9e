#!/usr/bin/env -S erltrace -s
/*
 * erlio.d [PID] - bytes that Erlang processes read and write, by process, function and kind of file, in each Erlang VM of this host, or in that of PID.
 *
 *   erltrace --for 10s -s scripts/kernel/erlio.d
 *
 * Files, sockets and pipes: whatever read, write, send and receive in all their forms return.
 *
 * page: PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

syscall::read:entry, syscall::readv:entry, syscall::pread64:entry, syscall::preadv:entry, syscall::recvfrom:entry, syscall::recvmsg:entry,
syscall::write:entry, syscall::writev:entry, syscall::pwrite64:entry, syscall::pwritev:entry, syscall::sendto:entry, syscall::sendmsg:entry
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    self->on = 1;
    self->fs = fds[arg0].fi_fs;
}

syscall::read:return, syscall::readv:return, syscall::pread64:return, syscall::preadv:return, syscall::recvfrom:return, syscall::recvmsg:return
/self->on && arg0 > 0 && erlpid != ""/
{
    @bytes[erlname, erlpid, erlfunc, self->fs, "read"] = sum(arg0);
    @sizes["bytes at a time", "read"] = quantize(arg0);
}

syscall::write:return, syscall::writev:return, syscall::pwrite64:return, syscall::pwritev:return, syscall::sendto:return, syscall::sendmsg:return
/self->on && arg0 > 0 && erlpid != ""/
{
    @bytes[erlname, erlpid, erlfunc, self->fs, "write"] = sum(arg0);
    @sizes["bytes at a time", "write"] = quantize(arg0);
}

syscall::read:return, syscall::readv:return, syscall::pread64:return, syscall::preadv:return, syscall::recvfrom:return, syscall::recvmsg:return,
syscall::write:return, syscall::writev:return, syscall::pwrite64:return, syscall::pwritev:return, syscall::sendto:return, syscall::sendmsg:return
/self->on/
{
    self->on = 0;
    self->fs = 0;
}

dtrace:::END
{
    trunc(@bytes, 30);
    printa(@sizes);
    printf("%-24s %-14s %-36s %-10s %-6s %14s\n", "NAME", "PROCESS", "FUNCTION", "ON", "", "BYTES");
    printa("%-24s %-14s %-36s %-10s %-6s %@14d\n", @bytes);
}
