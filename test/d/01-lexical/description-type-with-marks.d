/* A word with one of : - . ? ! or a backquote is a description, whatever stands before its *. */
int*-x { exit(0); }
uint8_t*:::a { exit(0); }
long*.x { exit(0); }
char*? { exit(0); }
int*! { exit(0); }
int*` { exit(0); }
