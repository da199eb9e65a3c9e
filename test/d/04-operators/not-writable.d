int *ip;
struct s { int a; char n[4]; } *sp;
string str;
enum e { ONE = 1 };
BEGIN { timestamp = 1; }
BEGIN { arg0 += 1; }
BEGIN { probename = "x"; }
BEGIN { pid++; }
BEGIN { *ip = 1; }
BEGIN { sp->a = 1; }
BEGIN { sp->n[0] = 'x'; }
BEGIN { ip[1]--; }
BEGIN { str[0] = 'x'; }
BEGIN { *sp = *sp; }
