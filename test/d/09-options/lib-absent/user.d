#pragma D depends_on library disk.d
inline int USER = DISK;
