/* args[] of a probe of programs: the process, the name, and terms */
erlang*:erltrace:probe:order,
erlang*:erltrace:probe:o*
/args[0] != "" && args[1] == "order" && term_string(args[2]) != ""/
{
	this->t = args[9];
	@[term_text(this->t)] = sum(term_int(term_element(args[3], 1)));
}
