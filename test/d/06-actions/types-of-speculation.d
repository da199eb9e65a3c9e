struct s { int a; } g;

BEGIN
{
	speculate(g);
}
BEGIN
{
	commit("1");
}
BEGIN
{
	discard(g);
}
