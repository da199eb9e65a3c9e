#pragma D option quiet

/* The negative side mirrors the positive one. */
BEGIN
{
	@ = llquantize(-1, 10, 0, 0, 10);
	@ = llquantize(-9, 10, 0, 0, 10);
	@ = llquantize(-10, 10, 0, 0, 10);
	@ = llquantize(0, 10, 0, 0, 10);
	exit(0);
}
