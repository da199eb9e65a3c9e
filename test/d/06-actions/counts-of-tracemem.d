int v[2];

BEGIN
{
	tracemem(v);
	tracemem(v, 8, 1, 1);
}
