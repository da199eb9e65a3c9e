BEGIN { trace(x); }
BEGIN { trace(self->x); }
BEGIN { trace(this->x); }
BEGIN { trace(x[1]); }
BEGIN { trace(self->x[1]); }
BEGIN { y = y + 1; }
BEGIN { z = self->z; }
