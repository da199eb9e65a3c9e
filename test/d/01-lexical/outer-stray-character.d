BEGIN
{
	exit(0);
}
)
