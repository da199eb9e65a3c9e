BEGIN
{
	@[usym(arg0)] = count(); printa("%a", @);
}
