BEGIN
{
	@[sym(arg0)] = count(); printa("%A", @);
}
