BEGIN { self = 1; }
BEGIN { trace(this); }
BEGIN { self.x = 1; }
BEGIN { this[1] = 1; }
BEGIN { x = self; }
BEGIN { self->; }
BEGIN { self->1; }
