#!/usr/sbin/dtrace -qs
#pragma D option quiet

BEGIN
{
	printf("ok\n");
#! not a comment, but skipped
	exit(0);
}
