erlang*:erltrace:probe:sale
{
	trace(1);
	trace(
	    args[2] == NULL); trace(term_size(args[2]));
	printf("%s", class);
}
