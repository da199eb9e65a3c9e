/* They last over the clauses of a firing. */
#pragma D option quiet
this int n;
this string s;
int total, i;
tick-1ms { this->n = 5; this->s = "set"; }
tick-1ms { this->n++; }
tick-1ms
{
	total += this->n;
	i++;
}

tick-1ms
/i == 3/
{
	printf("%d %s %d\n", this->n, this->s, total);
	exit(0);
}
