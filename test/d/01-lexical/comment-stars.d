#pragma D option quiet
/***/
/**/BEGIN/***** / * /* ***/
{
	printf("%d\n", 8 / 2 /* / */ / 2);
	exit(0);
}
