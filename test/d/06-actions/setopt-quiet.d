/* The prefix of the record is out when setopt is consumed; its newline is not. */
BEGIN
{
	trace(1);
}
BEGIN
{
	setopt("quiet");
}
BEGIN
{
	printf("quiet");
}
BEGIN
{
	setopt("quiet", "no");
}
BEGIN
{
	exit(0);
}
