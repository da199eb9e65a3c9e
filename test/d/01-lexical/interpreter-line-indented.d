#pragma D option quiet
   #! before a clause
BEGIN
	#! between a description and its body
{
	#! and inside: } /* "
	printf("ok\n");
	exit(0);
}
#!
