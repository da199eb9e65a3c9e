#!/usr/bin/env -S erltrace -s
/*
 * readsizes.d [PID] - bytes that programs read and write at a time, by program.
 *
 *   erltrace --for 10s -s scripts/kernel/readsizes.d
 *
 * page: PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

syscall::read:return, syscall::readv:return, syscall::pread64:return
/errno == 0 && ($1 == 0 || pid == $1)/
{
    @size["read", execname] = quantize(arg0);
}

syscall::write:return, syscall::writev:return, syscall::pwrite64:return
/errno == 0 && ($1 == 0 || pid == $1)/
{
    @size["write", execname] = quantize(arg0);
}
