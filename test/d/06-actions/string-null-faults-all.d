self string s;

#pragma D option quiet

BEGIN
{
	trace(strchr(NULL, 1));
}
BEGIN
{
	trace(strrchr(self->s, 1));
}
BEGIN
{
	trace(strstr(NULL, "a"));
}
BEGIN
{
	trace(strstr("a", self->s));
}
BEGIN
{
	trace(index(NULL, "a"));
}
BEGIN
{
	trace(index("a", self->s));
}
BEGIN
{
	trace(rindex(NULL, "a"));
}
BEGIN
{
	trace(substr(self->s, 1));
}
BEGIN
{
	trace(basename(NULL));
}
BEGIN
{
	trace(dirname(self->s));
}
BEGIN
{
	trace(cleanpath(NULL));
}
BEGIN
{
	trace(toupper(self->s));
}
BEGIN
{
	trace(tolower(NULL));
}
BEGIN
{
	trace(strtoll(self->s));
}
BEGIN
{
	trace(rindex("a", NULL));
}
BEGIN
{
	exit(0);
}
