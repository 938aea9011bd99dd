#!/usr/bin/env zsh
# SPDX-License-Identifier: Apache-2.0
#
#   complete.zsh FOLDER LINE
#
# Prints what zsh offers at the end of LINE, one a line, with the completions of FOLDER. It runs an
# interactive zsh on a terminal of its own, because only that completes.
emulate -L zsh
zmodload zsh/zpty
folder=$1 line=$2

zpty shell zsh -f -i
# The shell says "ready" when it has read this, in two parts so that its echo does not match. compadd
# prints what is offered; calls of it that only fill arrays offer nothing.
zpty -w shell "PS1= fpath=(${(q)folder} \$fpath)
autoload -U compinit && compinit -D -u
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd \"\$@\"; return; fi
  local -a hits
  builtin compadd -A hits \"\$@\"
  local hit; for hit in \$hits; do print -r -- \"offered=<\$hit>\"; done
}
zle -C offer complete-word offer-all
offer-all() { _main_complete; compstate[insert]= compstate[list]=; print done''ne; }
bindkey '^T' offer
print rea''dy"
zpty -r shell output '*ready*' || exit 1
zpty -w -n shell "$line"$'\C-t'
zpty -r shell output '*donene*' || exit 1
zpty -d shell
print -r -- "$output" | tr -d '\r' | sed -n 's/.*offered=<\(.*\)>.*/\1/p' | sort -u
