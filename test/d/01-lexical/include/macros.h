/* For cpp-include.d. */
#define GREET printf("from the header\n")
