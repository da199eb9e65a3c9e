/* #pragma D depends_on library no-such.d */
#pragma D depends_on library b-second.d
inline int LAST = SECOND + 1;
