inline int FIRST = 1;
