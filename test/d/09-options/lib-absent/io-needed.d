#pragma D depends_on provider io
inline int IO_NEEDED = 1;
