BEGIN
{
	x = (size_t == 1);
}
BEGIN
{
	trace(size_t);
}
BEGIN
{
	size_t;
}
BEGIN
{
	size_t, x = 2;
}
