#pragma D option quiet

BEGIN
{
	this->x = 5;
	printf("%d %d %d %d %d\n", -this->x, +this->x, ~this->x, !this->x, !!this->x);
	printf("%d %d %d\n", - -5, ~0, !0);
	exit(0);
}
