#pragma D option quiet


BEGIN
{
	printf("%s\n", strtok("one two three", " "));
}
BEGIN
{
	this->s = "other";
	printf("%s\n", strtok(NULL, " "));
}
BEGIN
/strtok(NULL, " ") == "three"/
{
	printf("three\n");
	exit(0);
}
