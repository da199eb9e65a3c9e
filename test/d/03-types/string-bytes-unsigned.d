#pragma D option quiet
BEGIN
{
	this->high = "\xff";
	this->low = "a";
	printf("%d%d%d%d\n", this->high > this->low, this->high < this->low, this->high >= this->high, this->low != this->high);
	printf("%d%d%d\n", "" < "a", "ab" > "a", "B" < "a");
	printf("%d%d\n", "abc" <= "abd", "abc" == "abc");
	exit(0);
}
