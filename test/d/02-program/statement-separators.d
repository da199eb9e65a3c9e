#pragma D option quiet
BEGIN { printf("a"); printf("b") }
BEGIN { ; }
BEGIN { ;;; printf("c\n"); ; exit(0) }
