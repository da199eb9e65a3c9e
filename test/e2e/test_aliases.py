"""Answers go to aliases: message-send shows the process that an alias stands for, as OTP's own provider does."""
from erlt import READY, aggregation, pid


def test_reply_names_its_receiver(t):
    """Each answer of a gen_server is a message to the caller's pid, none to a reference."""
    node = t.node()
    worker, server = node("etw:worker()"), node("whereis(kernel_sup)")
    trace = t.trace("-qn", READY + f"""
        erlang*:::message-send /copyinstr(arg0) == "{server}"/ {{ @[copyinstr(arg1)] = count(); }}""", node=node)
    trace.ready()
    node(f"etw:as({pid(worker)}, fun() -> [supervisor:which_children(kernel_sup) || _ <- lists:seq(1, 211)] end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {worker: 211}, "answers by receiver", trace)
