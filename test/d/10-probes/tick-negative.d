profile:::tick--5
{
	exit(0);
}
