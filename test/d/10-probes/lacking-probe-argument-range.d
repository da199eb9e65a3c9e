/* copy-struct has one argument */
erlang*:::copy-struct
{
	trace(args[1]);
}
