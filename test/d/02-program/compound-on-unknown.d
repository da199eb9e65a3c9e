BEGIN { x += 1; }
BEGIN { y <<= 1; }
BEGIN { a[1] -= 1; }
BEGIN { self->z *= 2; }
BEGIN { this->w |= 2; }
BEGIN { self->b["k"] ^= 2; }
