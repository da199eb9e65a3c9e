#pragma D option nspec=4
BEGIN
{
	exit(0);
}
