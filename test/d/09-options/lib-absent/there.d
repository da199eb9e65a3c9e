#pragma D depends_on provider profile
inline int THERE = 1;
