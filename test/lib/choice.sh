# choice.sh - the options that all runners share (choice.py explains them), for runners that are shell scripts. Source it:
#
#   otps=$(scripts/dev/releases)   # the values of --otp; empty: the suite has no --otp
#   . test/lib/choice.sh
#
# TEST_ONLY in the environment has names that are chosen instead (choice.py).
#
# Sets otp ("": the one on the PATH), and in the environment, for the program that knows the tests (etchoice.erl), TEST_LIST and
# TEST_PATTERNS, one a line.
# shellcheck disable=SC2086,SC2116
otps=$(echo ${otps:-}) # on one line
newline='
'
otp= TEST_LIST= TEST_PATTERNS=
suite=$(basename "$(dirname "$0")")
refuse() { echo "$suite: $*" >&2; exit 2; }
nothing() { refuse "no test has '$1' in its name; test/run $suite --list prints the names"; }
while [ $# != 0 ]; do
    case $1 in
        --list) TEST_LIST=1 ;;
        -v) ;; # each test has a line anyway
        --otp)
            case " $otps " in *" ${2:-?} "*) otp=$2 ;; *) refuse "--otp takes one of: ${otps:-(this suite has no --otp)}" ;; esac
            shift ;;
        --only)
            [ $# -gt 1 ] || refuse "--only takes a pattern"
            TEST_PATTERNS=$TEST_PATTERNS$2$newline
            shift ;;
        -*) refuse "there is no option $1" ;;
        *) TEST_PATTERNS=$TEST_PATTERNS$1$newline ;;
    esac
    shift
done
[ -z "${TEST_ONLY:-}" ] || TEST_PATTERNS=$TEST_ONLY$newline
export TEST_LIST TEST_PATTERNS

# choose NAMES: sets `chosen` to those of the names, one a line, that the patterns choose. Ends the program after --list, and if a pattern
# matches nothing.
choose() {
    chosen=$1
    if [ -n "$TEST_PATTERNS" ]; then
        while IFS= read -r pattern; do
            echo "$1" | grep -qF -e "$pattern" || nothing "$pattern"
        done <<EOF
${TEST_PATTERNS%"$newline"}
EOF
        chosen=$(pick "$1")
    fi
    [ -z "$TEST_LIST" ] || { echo "$chosen"; exit 0; }
}

# A pattern that is the whole name of a test chooses no other test.
pick() {
    while IFS= read -r pattern; do
        echo "$1" | grep -nxF -e "$pattern" || echo "$1" | grep -nF -e "$pattern"
    done <<EOF | sort -nu | sed 's/^[0-9]*://'
${TEST_PATTERNS%"$newline"}
EOF
}
