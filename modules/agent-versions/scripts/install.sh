#!/bin/sh
# Installs the Quartermaster agent on Linux or macOS, enrolls this machine and starts the service.
#   curl -fsSL @SERVER@/api/v1/agents/install.sh | sudo sh -s -- --token KEY
# Options: --server URL --token KEY --enrollment-secret S --site-id ID --device-role ROLE --no-start
# The key and the secret are better given as AGENT_TOKEN and AGENT_ENROLLMENT_SECRET: arguments show in the process list.
# PREFIX installs below another root, without service and without being root.
set -eu
umask 077

server='@SERVER@'
token=${AGENT_TOKEN:-}
secret=${AGENT_ENROLLMENT_SECRET:-}
site=''
role=''
prefix=${PREFIX:-}
start=yes
unset AGENT_TOKEN AGENT_ENROLLMENT_SECRET

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --no-start) start=no && shift && continue ;;
    --server | --token | --enrollment-secret | --site-id | --device-role) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    *) fail "unknown option $1" ;;
  esac
  case $1 in
    --server) server=${2%/} ;;
    --token) token=$2 ;;
    --enrollment-secret) secret=$2 ;;
    --site-id) site=$2 ;;
    --device-role) role=$2 ;;
  esac
  shift 2
done

[ -n "$prefix" ] || [ "$(id -u)" = 0 ] || fail 'run it as root, for example through sudo'

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=macos ;;
  *) fail "$(uname -s) is not supported; Linux and macOS are" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "$(uname -m) is not supported; x86-64 and arm64 are" ;;
esac

program=$prefix/usr/local/lib/quartermaster-agent/agent
state=$prefix/var/lib/quartermaster-agent/state.json
[ -f "$state" ] || [ -n "$token" ] || fail 'an enrollment key is needed: --token KEY'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail 'curl or wget is needed'
  fi
}
sha256() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}
# A text field of a flat JSON object.
field() {
  sed -n 's/.*[{,]"'"$1"'":"\([^"\\]*\)".*/\1/p' "$work/latest.json"
}

fetch "$server/api/v1/agent-versions/latest?platform=$os&arch=$arch" "$work/latest.json" ||
  fail "$server has no agent for $os $arch"
version=$(field version)
checksum=$(field checksum)
[ ${#checksum} = 64 ] && [ -n "$version" ] || fail "$server did not say which agent to install"
fetch "$server/api/v1/agents/download/$os/$arch?version=$version" "$work/agent" || fail 'the agent could not be downloaded'
[ "$(sha256 "$work/agent")" = "$checksum" ] || fail 'the downloaded agent has another checksum: nothing was installed'

mkdir -p "$(dirname "$program")" "$(dirname "$state")"
chmod 755 "$(dirname "$program")" "$work/agent"
# Beside the old one first: a running program cannot be written over, but its name can be given to another.
cp "$work/agent" "$program.new"
chmod 755 "$program.new"
mv -f "$program.new" "$program"

# What this version of the agent can be told.
"$program" --help >"$work/help" 2>&1 || true
knows() {
  grep -q -e "--$1" "$work/help"
}
if [ ! -f "$state" ]; then
  set -- enroll --server "$server" --state "$state"
  # Arguments of a running program can be read by everybody on this machine.
  if knows key-file; then
    printf '%s' "$token" >"$work/key"
    set -- "$@" --key-file "$work/key"
  else
    set -- "$@" --key "$token"
  fi
  if [ -n "$secret" ] && knows secret-file; then
    printf '%s' "$secret" >"$work/secret"
    set -- "$@" --secret-file "$work/secret"
  elif [ -n "$secret" ]; then
    set -- "$@" --secret "$secret"
  fi
  if [ -n "$site" ] && knows site-id; then set -- "$@" --site-id "$site"; fi
  if [ -n "$role" ] && knows device-role; then set -- "$@" --device-role "$role"; fi
  "$program" "$@" || fail 'this machine could not be enrolled'
fi

if [ $os = linux ]; then
  unit=$prefix/etc/systemd/system/quartermaster-agent.service
  mkdir -p "$(dirname "$unit")"
  cat >"$unit" <<UNIT
[Unit]
Description=Quartermaster agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart="$program" run --state "$state"
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
UNIT
  chmod 644 "$unit"
else
  unit=$prefix/Library/LaunchDaemons/quartermaster.agent.plist
  mkdir -p "$(dirname "$unit")"
  cat >"$unit" <<UNIT
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>quartermaster.agent</string>
<key>ProgramArguments</key><array>
<string>$program</string><string>run</string><string>--state</string><string>$state</string>
</array>
<key>RunAtLoad</key><true/><key>KeepAlive</key><true/>
</dict></plist>
UNIT
  chmod 644 "$unit"
fi

if [ $start = yes ] && [ -z "$prefix" ]; then
  if [ $os = macos ]; then
    launchctl unload "$unit" 2>/dev/null || true
    launchctl load "$unit"
  elif [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable --quiet quartermaster-agent
    systemctl restart quartermaster-agent
  else
    echo "systemd does not run here; start the agent with: $program run --state $state"
  fi
fi
echo "The Quartermaster agent $version is installed."
