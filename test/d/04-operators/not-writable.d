struct s { int a; char n[4]; } *sp;
string str;
BEGIN { timestamp = 1; }
BEGIN { arg0 += 1; }
BEGIN { probename = "x"; }
BEGIN { pid++; }
BEGIN { *(int *)arg0 = 1; }
BEGIN { ((struct s *)arg1)->a = 1; }
BEGIN { ((struct s *)(arg1 + 8))->n[0] = 'x'; }
BEGIN { *(1 ? (int *)arg0 : (int *)arg1) = 1; }
BEGIN { str[0] = 'x'; }
BEGIN { *(int *)4 = 1; }
