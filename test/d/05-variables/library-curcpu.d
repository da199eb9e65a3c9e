#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", curcpu->cpu_pset, curcpu->cpu_lgrp, curcpu->cpu_id >= 0);
	printf("%d %d %d\n", pset, lgrp, sizeof (curcpu->cpu_chip));
	exit(0);
}
