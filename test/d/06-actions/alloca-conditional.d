int a[4];
BEGIN { this->p = pid ? (int *)alloca(8) : &a[0]; }
BEGIN { this->q = pid ? (int *)arg0 : (int *)alloca(8); }
BEGIN { this->r = pid ? NULL : (int *)alloca(8); }
