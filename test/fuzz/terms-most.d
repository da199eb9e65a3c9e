/* Texts of terms in the largest strings there can be. */
#pragma D option strsize=1m

erlang*:erltrace:probe:p
{
	@[term_text(args[2]), term_string(args[2])] = count();
	@i[args[2]] = count();
	printf("%T %#T", args[5], args[6]);
	self->s = term_text(args[3]);
	printf("%s %s %s", self->s, term_text(args[4]), term_string(args[4]));
}
