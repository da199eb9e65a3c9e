#include "header.h"
enum of_header v;
BEGIN { trace(v == pid); }
BEGIN { trace(v == FIRST); }
