#pragma D option quiet
/* a comment
 * of several lines
 */
BEGIN /* here */ /* and
here */
{
	printf(/* there */ "%d\n", /**/ 1 /* " */ );
	exit(0); /* end */
}
/* last */
