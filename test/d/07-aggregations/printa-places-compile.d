BEGIN
{
	@[stack(), ustack(), sym(arg0), uaddr(arg0)] = count();
	printa("%k %k %a %A %@d", @);
}
