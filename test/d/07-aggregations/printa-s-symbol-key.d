BEGIN
{
	@[sym(arg0)] = count(); printa("%s", @);
}
