int v[1];

BEGIN
{
	v[0] = 3;
	print(&v[0]);
	trace(4);
	exit(0);
}
