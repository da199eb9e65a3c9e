BEGIN
{
	@[stack(), ustack(5), jstack(5, 100), sym(arg0), func(arg0), mod(arg0), usym(arg1), ufunc(arg1), umod(arg1)] = count();
	@u[uaddr(arg1), execname] = quantize(stackdepth);
	stack(7);
	trace(caller + ucaller + uregs[0] + regs[1]);
	printf("%s %d %d\n", zonename, ipl, ustackdepth);
	this->t = curthread;
	this->o = mutex_owner(this->t) == this->t;
	chill(1);
	copyout(alloca(4), arg0, 4);
	stop();
}
