#define N 5
BEGIN
{
	exit(0);
}
