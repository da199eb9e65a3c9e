# open.sh: opens the shop of the demos in a stock Erlang node, for the scripts beside it. Sets node, its name, and shop, its OS process.
#
#   open_shop WORK [setsid]   WORK is a folder, which is made anew; with setsid the node stays when the caller ends

shop=
close_shop() {
    [ -n "$shop" ] || return 0
    kill "$shop" 2>/dev/null || true
    wait "$shop" 2>/dev/null || true
}

open_shop() {
    local work=$1
    shift
    rm -rf "$work"
    mkdir -p "$work/ebin"
    erlc -o "$work/ebin" demo/*.erl
    # It has never heard of erltrace, and is started as any node is.
    "$@" erl -noinput -sname "shop$$" -pa "$work/ebin" -kernel logger_level none -s shop_sup \
        -eval "file:write_file(\"$work/node.new\", [atom_to_list(node()), 10, os:getpid(), 10]), file:rename(\"$work/node.new\", \"$work/node\")." \
        >"$work/shop.log" 2>&1 </dev/null &
    shop=$!
    for _ in $(seq 200); do
        if [ -s "$work/node" ] || ! kill -0 "$shop" 2>/dev/null; then break; fi
        sleep 0.1
    done
    if ! [ -s "$work/node" ]; then
        echo "demo: the Erlang node did not start:" >&2
        cat "$work/shop.log" >&2
        close_shop
        return 1
    fi
    { read -r node && read -r shop; } <"$work/node"
}
