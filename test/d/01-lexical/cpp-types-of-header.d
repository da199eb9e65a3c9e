#include "types.h"
struct before { struct both b; };
struct both { int a, b, c; };
typedef long both_t;
enum both { OF_PROGRAM = 2 };
struct header_only v;
BEGIN
{
	printf("%d %d %d\n", sizeof (struct both), sizeof (both_t), sizeof (uint64_t));
	printf("%d %d\n", sizeof (struct before), sizeof (v));
	printf("%d %d\n", OF_BOTH, OF_PROGRAM);
	exit(0);
}
