#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d %d\n", SIGHUP, SIGINT, SIGKILL, SIGTERM, SIGUSR1);
	printf("%d %d %d %d\n", SIGCHLD, SIGSTOP, SIGSYS, SIGSEGV);
	printf("%d %d %d\n", CLD_EXITED, CLD_KILLED, CLD_CONTINUED);
	exit(0);
}
