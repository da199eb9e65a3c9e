#pragma D option quiet


BEGIN
{
	if (probename == "BEGIN") {
		self->s = "made in a branch";
		this->n = 5;
		@a[1] = count();
		m[1, "k"] = 7;
	}
	printf("%s %d %d\n", self->s, this->n, m[1, "k"]);
}
BEGIN
{
	if (m[2, "k"] == 0)
		printa("%d: %@d\n", @a);
	exit(0);
}
