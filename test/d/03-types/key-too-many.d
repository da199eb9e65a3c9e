BEGIN { a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 1; }
BEGIN { b[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] = 1; }
BEGIN { @c[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] = count(); }
int d[int, int, int, int, int, int, int, int, int, int];
