# erltrace.fish - completion for fish. `make install` puts it into share/fish/vendor_completions.d.
#
# What it offers comes from the command itself, as in the file for bash beside this one: subcommands from `help commands`, options from its help, those of -x
# and their values from `help options`, ready scripts from `list`. No node is asked for anything.

# The subcommands, each with what it is for.
function __erltrace_commands
    set -l words (commandline -opc)
    $words[1] help commands 2>/dev/null | string replace -r -- '^ +(\S+) +' '$1\t'
end

# The subcommand that was typed, if one was.
function __erltrace_command
    set -l words (commandline -opc)
    if contains -- "$words[2]" (__erltrace_commands | string replace -r -- '\t.*' '')
        echo $words[2]
    end
end

# Whether the word before the one that is typed is one of these.
function __erltrace_after
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

# Options, with what the help says of them; those that only other lines of the help have follow.
function __erltrace_options
    set -l words (commandline -opc)
    set -l text ($words[1] help (__erltrace_command) 2>/dev/null)
    set -l seen
    for line in (string match -r -- '^  -.*' $text)
        set -l part (string match -r -g -- '^  (-.*?)   *(\S.*)' $line)
        for option in (string match -r -a -- '(?<![^ ,])--?[A-Za-z][a-z-]*' "$part[1]")
            set -a seen $option
            printf '%s\t%s\n' $option "$part[2]"
        end
    end
    for option in (string match -r -a -- '--[a-z][a-z-]*' $text)
        if not contains -- $option $seen
            set -a seen $option
            echo $option
        end
    end
end

# Options of -x; behind NAME= its values.
function __erltrace_settings
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l rows ($words[1] help options 2>/dev/null)
    if string match -q -- '*=*' $typed
        set -l name (string replace -r -- '=.*' '' $typed)
        for value in (string match -r -g -- "^  $name\*? .*\[(.*)\]\$" $rows | string split '|')
            echo "$name=$value"
        end
    else
        string match -r -g -- '^  ([a-z]+)\*? +\S+ +(.*)' $rows | while read -l name
            read -l text
            printf '%s\t%s\n' $name $text
        end
    end
end

function __erltrace_scripts
    set -l words (commandline -opc)
    $words[1] list 2>/dev/null | string replace -r -- '^(\S+).*?  +' '$1\t'
end

complete -c erltrace -f -n '__erltrace_after -x' -a '(__erltrace_settings)'
complete -c erltrace -f -n '__erltrace_after run' -a '(__erltrace_scripts)'
complete -c erltrace -f -n '__erltrace_after help' -a '(__erltrace_commands) options commands'
complete -c erltrace -F -n '__erltrace_after -s -o --cookie-file --tls-cacert --tls-cert --tls-key --cert --key --agent-dir -L -I'
complete -c erltrace -f -n 'test (count (commandline -opc)) = 1' -a '(__erltrace_commands)'
complete -c erltrace -n 'string match -q -- "-*" (commandline -ct)' -a '(__erltrace_options)'
