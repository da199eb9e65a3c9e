inline int KILO = 1024;
inline int kilobytes[int n] = n / KILO;
