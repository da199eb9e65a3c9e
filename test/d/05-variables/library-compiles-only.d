/* Everything that needs a kernel compiles. */
BEGIN
{
	trace(fds[0].fi_name);
	trace(fds[arg0].fi_oflags & O_ACCMODE);
	printf("%s %s %s", fds[1].fi_dirname, fds[1].fi_fs, fds[1].fi_mount);
	trace(fds[2].fi_offset);
	trace(curcpu->cpu_chip);
	trace(curlwpsinfo->pr_addr);
	trace(curlwpsinfo->pr_name);
	trace(uregs[R_PC] + uregs[R_SP] + uregs[R_FP]);
}
