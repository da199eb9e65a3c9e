int x;
inline int y = x + 1;
inline int z = 5;
inline int p = pid;
BEGIN { y = 1; }
BEGIN { z++; }
BEGIN { p = 1; }
BEGIN { NULL = 1; }
