#pragma D option quiet

BEGIN
{
	this->s = "abc";
	printf("%d%d%d%d\n", this->s == "abc", this->s != "abc", this->s < "abd", this->s >= "ab");
	printf("%d%d\n", "" < "a", "\xff" > "a");
	exit(0);
}
