#!/usr/bin/env bash
set -euo pipefail

source "$(dirname "$0")/lib/log.sh"
. ./settings.sh

# Where copies go. — „Sicherung“
TARGET=/var/backups/ж
readonly KEEP=7
export LANG=C LC_ALL=C
declare -a dirs=(etc home)

# Says what is done.
#
# Arguments: the words.
say() {
  local text="$*" level=1
  printf 'say: %s\n' "$text" >&2
  echo "now $(say_name "$text") and ${text:-say} in $TARGET"
}

function copy_all {
  local dir
  for dir in "${dirs[@]}"; do
    copy_one "$dir" || return 1
  done
}

function copy_one() {
  local dir=$1 count=0
  nested() { tar -cf - "$dir"; }
  while read -r line; do
    count=$((count + 1))
    say "$line"
  done < <(nested | sort)
  cat <<EOF
say $dir took $(date)
EOF
}

in_subshell() (
  cd "$TARGET" && say done
)

trap cleanup EXIT
cleanup() { rm -f "$TARGET"/*.part; }

copy_all "$@"
