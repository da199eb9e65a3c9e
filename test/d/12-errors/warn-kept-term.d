erlang*:erltrace:probe:x { self->m = args[2]; whole = this->t = args[2]; by[1] = self->m; }
erlang*:erltrace:probe:x { self->a = atom("ok"); self->k = term_text(args[2]); self->m = 0; this->u = args[2]; }
BEGIN { exit(0); }
#pragma D option zdefs
