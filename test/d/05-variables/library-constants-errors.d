#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d %d\n", EPERM, ENOENT, EINTR, EAGAIN, EWOULDBLOCK);
	printf("%d %d %d %d\n", ENOSYS, ENOTEMPTY, ETIMEDOUT, EHWPOISON);
	exit(0);
}
