# SPDX-License-Identifier: Apache-2.0
#
# Completion for fish. Verbs, actions of pmu and log, and options are those that the program names in its help.

# The words before the cursor that choose a help: none, a verb, or pmu or log and an action.
function __meterbank_before
    set -l words (commandline -opc)[2..]
    if contains -- "$words[1]" pmu log
        string join \n -- $words[1..2]
    else
        string join \n -- $words[1]
    end
end

function __meterbank_wants_verb
    set -l words (commandline -opc)[2..]
    test (count $words) -eq 0; or contains -- "$words" pmu log
end

function __meterbank_verbs
    meterbank (__meterbank_before) --help 2>/dev/null | sed -nE 's/^([A-Z][a-z]+)? +([a-z]+)  +([a-z].*)$/\2\t\3/p'
end

function __meterbank_options
    meterbank (__meterbank_before) --help 2>/dev/null |
        sed -nE 's/^ +(-[A-Za-z], )?(--[a-z][a-z-]*)( .*[^ ])?  +([^ ].*)$/\2\t\4/p'
end

complete -c meterbank -n __meterbank_wants_verb -f -a '(__meterbank_verbs)'
complete -c meterbank -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__meterbank_options)'
