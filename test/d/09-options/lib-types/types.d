typedef int time_t;
