/* Whatever acts in the consumer makes a line, also when it shows nothing. */
#pragma D option destructive

BEGIN
{
	@a = count();
	system("true");
}
BEGIN
{
	setopt("aggsortrev", "no");
}
BEGIN
{
	normalize(@a, 1);
}
BEGIN
{
	denormalize(@a);
}
BEGIN
{
	clear(@a);
}
BEGIN
{
	trunc(@a);
}
BEGIN
{
	ftruncate();
}
BEGIN
{
	exit(0);
}
