struct a { int; };
struct b { int x; int x; };
struct c { void x; };
struct d { struct nosuch x; };
struct e { struct e x; };
struct f { int x }
;
struct g { x; };
int x`y;
struct h`i { int x; };
union u { int a; };
union u { int b; };
