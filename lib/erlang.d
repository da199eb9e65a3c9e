/* erlang.d - what processes of OTP send each other, so that scripts need not know how it looks.
 *
 * Each takes a term: the message of a probe, or what handle_call/3 has as its second argument. All may
 * be asked about any term: what it does not have is NULL. The request and the reply of a call have the same
 * tag; the id of either is its text, which is a key for arrays. */

/* gen_server, gen_statem and supervisors send {'$gen_call', {From, Tag}, Request}, calls of gen_event
 * and its sync_notify {Pid, {From, Tag}, Request}. */
inline int is_gen_call[term_t m] = tuple_size(m) == 3 && tuple_size(element(2, m)) == 2 &&
    is_pid(element(1, element(2, m))) && (element(1, m) == atom("$gen_call") || is_pid(element(1, m)));
inline term_t gen_call_from[term_t m] = element(1, element(2, m));
inline term_t gen_call_tag[term_t m] = element(2, element(2, m));
inline term_t gen_call_request[term_t m] = element(3, m);
inline string gen_call_id[term_t m] = term_text(element(2, element(2, m)));

/* {From, Tag}, as handle_call/3 and gen_server:reply/2 have it. */
inline string gen_from_id[term_t from] = term_text(element(2, from));

/* {'$gen_cast', Request}; gen_event has {notify, Event}. */
inline int is_gen_cast[term_t m] = tuple_size(m) == 2 && element(1, m) == atom("$gen_cast");
inline int is_gen_notify[term_t m] = tuple_size(m) == 2 && element(1, m) == atom("notify");
inline term_t gen_cast_request[term_t m] = element(2, m);

/* {Tag, Reply}: a tag is a reference, or [alias | Reference]. */
inline int is_gen_reply[term_t m] = tuple_size(m) == 2 && (is_reference(element(1, m)) ||
    (is_list(element(1, m)) && hd(element(1, m)) == atom("alias")));
inline term_t gen_reply_tag[term_t m] = element(1, m);
inline term_t gen_reply_value[term_t m] = element(2, m);
inline string gen_reply_id[term_t m] = term_text(element(1, m));

/* {'DOWN', Reference, process | port | time_offset, Object, Reason} */
inline int is_monitor_down[term_t m] = tuple_size(m) == 5 && element(1, m) == atom("DOWN") &&
    is_reference(element(2, m));
inline term_t monitor_down_ref[term_t m] = element(2, m);
inline term_t monitor_down_object[term_t m] = element(4, m);
inline term_t monitor_down_reason[term_t m] = element(5, m);

/* {'EXIT', Pid, Reason}, to a process that traps exits */
inline int is_exit_message[term_t m] = tuple_size(m) == 3 && element(1, m) == atom("EXIT") &&
    (is_pid(element(2, m)) || is_port(element(2, m)));
inline term_t exit_message_from[term_t m] = element(2, m);
inline term_t exit_message_reason[term_t m] = element(3, m);

/* {timeout, Reference, Message}, of erlang:start_timer/3 */
inline int is_timer_message[term_t m] = tuple_size(m) == 3 && element(1, m) == atom("timeout") &&
    is_reference(element(2, m));

/* {system, {From, Tag}, Request}, of the module sys */
inline int is_system_message[term_t m] = tuple_size(m) == 3 && element(1, m) == atom("system") &&
    tuple_size(element(2, m)) == 2;
