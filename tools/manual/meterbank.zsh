#compdef meterbank
# SPDX-License-Identifier: Apache-2.0
#
# Completion for zsh. Verbs, actions of pmu and log, and options are those that the program names in its help.
_meterbank() {
  local -a before found
  (( CURRENT > 2 )) && before=($words[2])
  [[ $words[2] == (pmu|log) ]] && (( CURRENT > 3 )) && before+=($words[3])
  if [[ $PREFIX == -* ]]; then
    found=(${(f)"$(meterbank $before --help 2>/dev/null |
      sed -nE 's/^ +(-[A-Za-z], )?(--[a-z][a-z-]*)( .*[^ ])?  +([^ ].*)$/\2:\4/p')"})
    _describe -o option found
  elif (( CURRENT == 2 )) || [[ $CURRENT == 3 && $words[2] == (pmu|log) ]]; then
    found=(${(f)"$(meterbank $before --help 2>/dev/null |
      sed -nE 's/^([A-Z][a-z]+)? +([a-z]+)  +([a-z].*)$/\2:\3/p')"})
    _describe verb found
  else
    _files
  fi
}
_meterbank "$@"
