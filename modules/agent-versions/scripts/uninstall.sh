#!/bin/sh
# Stops the Quartermaster agent, says goodbye to the server and removes the program. --keep-state keeps who it was.
set -eu

prefix=${PREFIX:-}
keep=no
[ "${1:-}" != --keep-state ] || keep=yes
[ -n "$prefix" ] || [ "$(id -u)" = 0 ] || {
  echo 'uninstall.sh: run it as root, for example through sudo' >&2
  exit 1
}
folder=$prefix/usr/local/lib/quartermaster-agent
state=$prefix/var/lib/quartermaster-agent
unit=$prefix/etc/systemd/system/quartermaster-agent.service
plist=$prefix/Library/LaunchDaemons/quartermaster.agent.plist

if [ -z "$prefix" ] && [ -d /run/systemd/system ] && [ -f "$unit" ]; then
  systemctl disable --now --quiet quartermaster-agent || true
elif [ -z "$prefix" ] && [ -f "$plist" ]; then
  launchctl unload "$plist" || true
fi
# An agent that can tell the server of its end does; the removal does not depend on it.
if [ -x "$folder/agent" ] && "$folder/agent" --help 2>&1 | grep -q 'agent uninstall'; then
  "$folder/agent" uninstall --state "$state/state.json" || true
fi
rm -f "$unit" "$plist"
if [ -z "$prefix" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
rm -rf "$folder"
[ $keep = yes ] || rm -rf "$state"
echo 'The Quartermaster agent is removed.'
