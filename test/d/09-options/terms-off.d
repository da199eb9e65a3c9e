BEGIN
{
	x = 1;
}

erlang*:lists:member:entry
/* argv[0] is not this one */
/x == 1 && "argv" != "" &&
	term_int(argv[0]) == 1/
{
	trace(x);
}
