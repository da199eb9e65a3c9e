#pragma D option quiet

BEGIN
{
#if defined(__linux) && defined(__unix) && defined(__SVR4) && __SUNW_D == 1 && defined(__SUNW_D_64) && defined(__Linux)
	printf("all there, ");
#endif
#ifndef __GNUC__
	printf("not GNU C, ");
#endif
	printf("%x\n", __SUNW_D_VERSION);
	exit(0);
}
