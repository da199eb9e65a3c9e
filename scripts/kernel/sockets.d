#!/usr/bin/env -S erltrace -s
/*
 * sockets.d [PID] - bytes that programs send and receive by sockets: by program and socket, and how many at a time.
 *
 *   erltrace --for 10s -s scripts/kernel/sockets.d
 *
 * page: PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

syscall::read:entry, syscall::readv:entry, syscall::recvfrom:entry, syscall::recvmsg:entry, syscall::write:entry, syscall::writev:entry,
syscall::sendto:entry, syscall::sendmsg:entry
/($1 == 0 || pid == $1) && fds[arg0].fi_fs == "sockfs"/
{
    self->on = arg0 + 1;
    self->socket = fds[arg0].fi_pathname;
}

syscall::read:return, syscall::readv:return, syscall::recvfrom:return, syscall::recvmsg:return
/self->on && errno == 0/
{
    @bytes[execname, pid, self->socket, "received"] = sum(arg0);
    @sizes["received", execname] = quantize(arg0);
}

syscall::write:return, syscall::writev:return, syscall::sendto:return, syscall::sendmsg:return
/self->on && errno == 0/
{
    @bytes[execname, pid, self->socket, "sent"] = sum(arg0);
    @sizes["sent", execname] = quantize(arg0);
}

syscall::read:return, syscall::readv:return, syscall::recvfrom:return, syscall::recvmsg:return, syscall::write:return, syscall::writev:return,
syscall::sendto:return, syscall::sendmsg:return
/self->on/
{
    self->on = 0;
    self->socket = 0;
}

dtrace:::END
{
    trunc(@bytes, 20);
    printa(@sizes);
    printf("%-16s %8s %-20s %-8s %14s\n", "PROGRAM", "PID", "SOCKET", "", "BYTES");
    printa("%-16s %8d %-20s %-8s %@14d\n", @bytes);
}
