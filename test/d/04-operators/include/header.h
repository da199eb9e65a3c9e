/* An enumerator that is called like a built-in variable. */
enum of_header { FIRST = 1, pid };
