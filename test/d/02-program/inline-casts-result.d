/* The expression is evaluated at each use, and the result is cast to the inline's type. */
#pragma D option quiet
int n;
self int count;
inline uint8_t low = n;
inline char signed_low = n;
inline int64_t wide = n;
inline int of_thread = self->count;
inline int *none = 0;
BEGIN
{
	n = 0x1ff;
	self->count = 7;
	printf("%d %d %d %d %d\n", low, signed_low, wide, of_thread, none == NULL);
	printf("%d %d %d\n", sizeof (low), sizeof (wide), sizeof (none));
	n = 2;
	self->count++;
	printf("%d %d\n", low, of_thread);
	exit(0);
}
