   # pragma   D  option	quiet
BEGIN
{
	printf("%s", "one");
		#pragma whatever
	printf("%s\n", " two");
	exit(0);
}
