int args;
inline int args = 1;
BEGIN { exit(0); }
