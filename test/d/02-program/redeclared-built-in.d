int pid;
int arg0;
string probename;
int printf;
int uint64_t;
typedef int pid_t;
typedef char size_t;
int NULL;
