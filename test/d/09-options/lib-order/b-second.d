#pragma D depends_on provider dtrace
  #pragma D depends_on library c-first.d
inline int SECOND = FIRST + 1;
