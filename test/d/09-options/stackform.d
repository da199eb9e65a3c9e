#pragma D option quiet

BEGIN
{
	@["a;b c", 2, ustack()] = count();
	@sizes[ustack()] = quantize(8);
	@other[1] = sum(3);
	exit(0);
}
