/* What the fuzzers are to find soon: every subroutine on terms. */
erlang*:erltrace:probe:p
{
	this->t = args[2];
	@[term_kind(this->t), term_text(this->t)] = sum(term_int(this->t) + term_size(this->t));
	printf("%s %s %s", term_string(args[3]), term_text(term_element(this->t, 1)), copyinstr(arg0));
	trace(term_text(term_get(args[2], "a")));
	trace(term_text(term_get(term_element(args[4], 2), "key")));
}

erlang*:erltrace:probe:p
/term_string(args[2]) != ""/
{
	self->s = term_text(args[2]);
	g[term_string(args[2]), self->s] = strlen(self->s);
	s = strjoin(term_text(args[3]), self->s);
	trace(substr(s, 1));
	@k[s, g[term_string(args[2]), self->s], term_kind(args[5])] = quantize(term_size(args[5]));
}
