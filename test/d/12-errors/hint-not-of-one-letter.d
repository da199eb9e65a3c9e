int y;
BEGIN { trace(timestmp); }
BEGIN { trace(x); }
BEGIN { self->w = 1; trace(self->z); }
