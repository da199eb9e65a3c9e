BEGIN
{
	@[1] = count(); printa("%*d", @);
}
