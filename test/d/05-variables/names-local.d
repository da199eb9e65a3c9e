/* names of Erlang's processes exist in nodes only */
BEGIN { trace(erlname); }
