#!/bin/sh
# Stops the Quartermaster agent and its watchdog and removes them. --keep-state keeps the identity of this machine.
set -eu

prefix=${PREFIX:-}
keep=no
case ${1:-} in
  '') ;;
  --keep-state) keep=yes ;;
  *)
    echo "uninstall.sh: unknown option $1" >&2
    exit 1
    ;;
esac
[ -n "$prefix" ] || [ "$(id -u)" = 0 ] || {
  echo 'uninstall.sh: run it as root, for example through sudo' >&2
  exit 1
}

# The server learns that the agent is removed on purpose. The removal does not depend on it.
program=$prefix/usr/local/lib/quartermaster-agent/agent
state=$prefix/var/lib/quartermaster-agent/state.json
told=no
if [ -x "$program" ] && [ -f "$state" ]; then
  if "$program" uninstall --state "$state" >/dev/null 2>&1; then told=yes; fi
fi

# The watchdog first, because it would restart the agent.
for name in quartermaster-watchdog quartermaster-agent; do
  unit=$prefix/etc/systemd/system/$name.service
  plist=$prefix/Library/LaunchDaemons/$name.plist
  if [ -z "$prefix" ] && [ -d /run/systemd/system ] && [ -f "$unit" ]; then
    systemctl disable --now --quiet "$name" || true
  elif [ -z "$prefix" ] && [ -f "$plist" ]; then
    launchctl unload "$plist" || true
  fi
  rm -f "$unit" "$plist"
done
if [ -z "$prefix" ] && [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
rm -rf "$prefix/usr/local/lib/quartermaster-agent"
[ $keep = yes ] || rm -rf "$prefix/var/lib/quartermaster-agent"
echo 'The Quartermaster agent is removed. The server shows its device offline until it is decommissioned there.'
[ $told = yes ] || echo 'The server was not told: it could not be reached, or no agent was enrolled here.'
