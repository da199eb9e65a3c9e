#pragma D option quiet
#pragma D option version=1.5
#pragma D option zdefs

shop*:::sold
{
	trace(args[0]->cents);
}

BEGIN { printf("fine\n"); exit(0); }
