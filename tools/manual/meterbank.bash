# SPDX-License-Identifier: Apache-2.0
#
# Completion for bash. Verbs, actions of pmu and log, and options are those that the program names in its help.
_meterbank() {
  local word=${COMP_WORDS[COMP_CWORD]} words= before=()
  COMPREPLY=()
  ((COMP_CWORD == 1)) || before=("${COMP_WORDS[1]}")
  [[ ! ${COMP_WORDS[1]} =~ ^(pmu|log)$ ]] || ((COMP_CWORD == 2)) || before+=("${COMP_WORDS[2]}")
  if [[ $word == -* ]]; then
    words=$(meterbank "${before[@]}" --help 2>/dev/null | grep -oE -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u)
  elif ((COMP_CWORD == 1 || COMP_CWORD == 2 && ${#before[@]} == 1)) && [[ ${before[0]:-pmu} =~ ^(pmu|log)$ ]]; then
    words=$(meterbank "${before[@]}" --help 2>/dev/null | sed -nE 's/^([A-Z][a-z]+)? +([a-z]+)  +[a-z].*/\2/p')
  fi
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _meterbank meterbank
