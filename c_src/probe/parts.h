/* parts.h - what rows of the provider's tables share; only for the .list files. */
#ifndef ET_PROBE_PARTS_H
#define ET_PROBE_PARTS_H

/* What words/probes.list says of a probe that a tier has: its kind, its name and its needs. */
#define KIND(word) .kind = PROBE_##word, .name = probe_name_##word, .needs = PROBE_NEEDS_##word
#define WORD_PROBE(num, word, by, text, needs)                                                     \
    static const char probe_name_##word[] __attribute__((unused)) = text;
#include "words/probes.list"
#undef WORD_PROBE

/* clang-format off */
/* Arguments that many probes have. */
#define PID_TEXT(name, what) {"char *", name, what " as text, <0.N.S>", PROBE_FORM_PROCESS, 0}
#define PROCESS    PID_TEXT("p", "the process")
#define SENDER     PID_TEXT("sender", "the sender")
#define RECEIVER   PID_TEXT("receiver", "the receiver")
#define ACTOR      PID_TEXT("process", "the port's owner, or the process that acts on it,")
#define MFA        MFA_TEXT("mfa", "the function, m:f/a")
#define MFA_TEXT(name, text) {"char *", name, text, PROBE_FORM_FUNCTION, 0}
#define PORT       {"char *", "port", "the port as text, #Port<0.N>"}
#define PORT_NAME  {"char *", "port_name", "what the port was opened with; <unknown> in the first second of a port whose opening no event reported"}
#define DRIVER_NAME {"char *", "name", "the port's name"}
#define NODE       {"char *", "node", "this node"}
#define REMOTE     {"char *", "remote_node", "the node at the other end"}
#define SIZE       {"uint32_t", "size", "message size in words, of a large message a lower bound; 4294967295: not known", PROBE_FORM_SIZE, UINT32_MAX}
#define BYTES      {"int", "bytes", "bytes passed to the driver"}
#define TOKEN(name, what) {"int", name, "seq_trace: " what "; 0 without a token"}
#define TOKENS     TOKEN("token_label", "label; -2147483648 if it is not an integer of 32 bits"), \
                   TOKEN("token_previous", "serial last received; argN has 64 bits"), TOKEN("token_current", "serial of this message, likewise")
#define NO_TOKEN(name) {"int", name, "seq_trace: not known here, 0", PROBE_FORM_UNKNOWN, 0}
#define NO_TOKENS  NO_TOKEN("token_label"), NO_TOKEN("token_previous"), NO_TOKEN("token_current")
#define SCHEDULER  {"int", "scheduler", "its number, from 1 on: normal ones, then dirty CPU, then dirty I/O schedulers"}
#define SCHEDULER_TYPE {"char *", "type", "normal, dirty_cpu or dirty_io"}
#define WAITED     {"uint64_t", "ns", "our addition: ns that it waited"}
/* All in words. */
#define GC_SIZES {"uint64_t", "heap_size", "words in use of the young heap"}, {"uint64_t", "old_heap_size", "words in use of the old heap"}, \
                 {"uint64_t", "stack_size", "words of stack"}, \
                 {"uint64_t", "bin_vheap_size", "words outside the heaps that binaries of both heaps keep"}
#define HEAP_SIZES {"uint64_t", "heap_size", "words in use of the young heap"}, {"uint64_t", "old_heap_size", "words in use of the old heap"}, \
                   {"uint64_t", "stack_size", "words of stack"}, {"uint64_t", "mbuf_size", "words of messages that are not on the heap yet"}, \
                   {"uint64_t", "heap_block_size", "words of the young heap's block"}, \
                   {"uint64_t", "old_heap_block_size", "words of the old heap's block"}

/* Remarks (.how) that several rows share. */
#define TOLD       "the VM reports it to the agent, which fires the probe some microseconds later"
#define GOES_ON    "when it is next scheduled out at a place other than where it waited, or within some 20 ms (up to 500 ms if many processes wait); not if it dies before"

/* Why the vm tier lacks the probe. */
#define NO_EVENT   "the VM has no event for it"
#define GONE(otp)  "OTP has not had it since release " otp
/* clang-format on */

#endif
