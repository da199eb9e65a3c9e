/* Each statement shows its own error, also when it is the only one that is not understood. */
BEGIN
{
	x = ;
	y = 1 2;
	self->z = (3;
	@a[x = count();
	if (x 1) { trace(1); } else { trace(2); }
	if (x {
		trace(1 2);
	} else if (1) { trace(3) } else trace(4 5);
	if (1) { trace(6 7); trace(nosuch1); }
	printf("abc);
	q = 'b;
	trace(x); trace(y); trace(self->z); trace(q); printa(@a);
	trace(nosuch2);
}

tick-1s / x == /
{
	trace(8 9);
	trace(y == nosuch3);
}

tick-2s / x = 1 { trace(10 11); }
END { trace(y); clear(@nosuch); }
