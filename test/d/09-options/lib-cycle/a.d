#pragma D depends_on library b.d
inline int A = 1;
