inline int FINE = 1;
inline int broken = no_such_name;
int x
