#pragma D option quiet

BEGIN
{
	this->x = strjoin("0123456789012345678901234567890123456789", "0123456789012345678901234567890123456789");
	a[this->x] = this->x;
	printf("%d %d\n", strlen(a[this->x]), a[this->x] == this->x);
	exit(0);
}
