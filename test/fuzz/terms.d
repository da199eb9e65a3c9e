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
{
	this->t = args[2];
	this->m = args[3];
	printf("%d%d%d%d%d%d%d%d", is_atom(this->t), is_binary(this->t), is_bitstring(this->t), is_boolean(this->t), is_float(this->t),
	    is_function(this->t), is_integer(this->t), is_list(this->t));
	printf("%d%d%d%d%d%d", is_map(this->t), is_number(this->t), is_pid(this->t), is_port(this->t), is_reference(this->t), is_tuple(this->t));
	trace(length(this->t) + tuple_size(this->t) + map_size(this->t) + byte_size(this->t) + term_words(this->t) + term_float(this->t, 1000));
	@h[hd(this->t), tl(this->t), element(term_int(args[4]), this->t)] = sum(term_hash(this->t));
	printf("%T %#T %T", map_get("a", this->t), map_get(1, this->t), map_get(this->m, this->t));
}

erlang*:erltrace:probe:p
/args[2] == args[3] || args[2] != atom("a") || args[3] == 1 || args[3] == "text"/
{
	n[args[4], args[5]]++;
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
