x$1y:::z$target, x$$1y:::z$$target
{
	exit(0);
}
tick-1$2 { exit(0); }
