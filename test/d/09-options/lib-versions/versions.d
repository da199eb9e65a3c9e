inline int OLD = 1;
#pragma D binding "1.0" OLD
inline int NEW = 2;
#pragma D binding "1.6.1" NEW
#pragma D binding "1.4" before
inline int before = 3;
struct out { int v; };
#pragma D binding "1.5" translator
translator struct out < int i > { v = i; };
