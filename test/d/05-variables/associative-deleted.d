#pragma D option quiet

BEGIN
{
	a[1] = 5;
	a[1] = 0;
	printf("%d\n", a[1]);
	s["k"] = "v";
	printf("%s %d\n", s["k"], s["j"] == NULL);
	s["k"] = 0;
	printf("%d\n", s["k"] == NULL);
	exit(0);
}
