# SPDX-License-Identifier: Apache-2.0
#
# Completion for bash. Verbs and options are those that the program itself names in its help.
_meterbank() {
  local word=${COMP_WORDS[COMP_CWORD]} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$(meterbank --help | sed -nE 's/^([A-Z][a-z]+)? +([a-z]+)  +[a-z].*/\2/p')
  elif [[ $word == -* ]]; then
    words=$(meterbank "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '(^|[ ,])--[a-z][a-z-]*')
  fi
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _meterbank meterbank
