#pragma D option quiet

BEGIN
{
	@[1 + 1, strjoin("a", "b")] = count();
	this->x = 2;
	@[this->x, "ab"] = count();
	exit(0);
}
