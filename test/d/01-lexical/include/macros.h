#define GREET printf("from the header\n")
