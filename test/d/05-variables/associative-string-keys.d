#pragma D option quiet

BEGIN
{
	a["abc"] = 1;
	this->k = strjoin("a", "bc");
	printf("%d %d %d\n", a[this->k], a["ab"], a["abcd"]);
	exit(0);
}
