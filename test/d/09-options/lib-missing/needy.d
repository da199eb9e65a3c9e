/* needs something */
#pragma D depends_on library nowhere.d
inline int NEEDY = 1;
