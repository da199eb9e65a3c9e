/* Enumerators, two of which are called like names of D. */
enum of_header { OF_HEADER = 7, pid, printf };
