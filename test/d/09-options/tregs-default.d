/* Nine keys with the default of eight. */
#pragma D option quiet
BEGIN { a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 10; trace(a[1, 2, 3, 4, 5, 6, 7, 8, 9]); exit(0); }
