#pragma D option quiet

BEGIN
{
	printf("%s\n", strjoin(toupper(substr("hello", 1, 3)), lltostr(strlen(basename("/usr/lib")))));
	exit(0);
}
