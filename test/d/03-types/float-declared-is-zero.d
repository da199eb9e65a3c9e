double g;
this float f;
BEGIN
{
	printf("%g %g\n", g, this->f);
	exit(0);
}
