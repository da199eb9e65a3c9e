#pragma D option quiet


BEGIN
{
	printf("[%s]\n", toupper("abc-XYZ 09 az"));
	printf("[%s]\n", tolower("ABC-xyz {AZ}"));
	printf("[%s]\n", toupper(""));
	exit(0);
}
