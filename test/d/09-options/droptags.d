#pragma D option quiet

#pragma D option droptags
#pragma D option nspec=1
BEGIN
{
	x = speculation();
	x = speculation();
	x = speculation();
	exit(0);
}
