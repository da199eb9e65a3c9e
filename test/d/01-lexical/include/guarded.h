/* Guarded, so that cpp -H has nothing to say but its name. */
#ifndef GUARDED_H
#define GUARDED_H
int of_header;
#endif
