
#pragma D depends_on library a.d
inline int B = 1;
