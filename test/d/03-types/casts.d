#pragma D option quiet

BEGIN
{
	this->m = -2;
	printf("%d\n", (long long)(unsigned)this->m);
	printf("%d %d %d\n", (char)this->m, (unsigned char)this->m, (unsigned short)this->m);
	printf("%d\n", (long long)(unsigned)-2);
	printf("%d\n", (char)255);
	exit(0);
}
