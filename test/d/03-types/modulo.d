/* The sign follows the dividend, as in C. */
#pragma D option quiet

BEGIN
{
	this->a = 19;
	this->b = 5;
	printf("%d %d %d\n", this->a % -this->b, -this->a % this->b, -this->a % -this->b);
	printf("%d %d %d\n", 19 % -5, -19 % 5, -19 % -5);
	exit(0);
}
