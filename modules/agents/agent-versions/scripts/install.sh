#!/bin/sh
# Installs the Quartermaster agent and its watchdog on Linux or macOS, enrolls this machine and starts the services.
#   export AGENT_TOKEN=KEY
#   curl -fsSL @SERVER@/api/v1/agents/install.sh | sudo --preserve-env=AGENT_TOKEN sh
# Options: --server URL --token KEY --token-file FILE --enrollment-secret S --device-role ROLE --no-start --no-power
# --no-power: the agent refuses to restart, shut down or lock this machine. Later runs keep that; --power ends it.
# Prefer AGENT_TOKEN and AGENT_ENROLLMENT_SECRET, or a file with the key: arguments are visible in the process list.
# The site is that of the key; --site-id is accepted and ignored.
# A second run updates the programs to the latest version; the machine keeps its identity.
# PREFIX installs below another root folder, without services and without root privileges.
set -eu
umask 077

server='@SERVER@'
token=${AGENT_TOKEN:-}
secret=${AGENT_ENROLLMENT_SECRET:-}
role=''
prefix=${PREFIX:-}
start=yes
power=''
unset AGENT_TOKEN AGENT_ENROLLMENT_SECRET

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --no-start) start=no && shift && continue ;;
    --power) power=yes && shift && continue ;;
    --no-power) power=no && shift && continue ;;
    --server | --token | --token-file | --enrollment-secret | --site-id | --device-role) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    *) fail "unknown option $1" ;;
  esac
  case $1 in
    --server) server=${2%/} ;;
    --token) token=$2 ;;
    --token-file) token=$(cat "$2") || fail "$2 cannot be read" ;;
    --enrollment-secret) secret=$2 ;;
    --site-id) ;;
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

folder=$prefix/usr/local/lib/quartermaster-agent
program=$folder/agent
watchdog=$folder/watchdog
state=$prefix/var/lib/quartermaster-agent/state.json
[ -f "$state" ] || [ -n "$token" ] || fail 'an enrollment key is needed: --token KEY'

mkdir -p "$folder" "$(dirname "$state")"
chmod 755 "$folder"
# Next to the target folder: programs in the folder of temporary files may not be executable.
work=$(mktemp -d "$folder/install.XXXXXX")
trap 'rm -rf "$work"; rmdir "$folder" 2>/dev/null || true' EXIT
trap 'exit 1' INT TERM

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
# Downloads one program and verifies it; fails before it changes an installed one.
prepare() {
  component=$1
  query="platform=$os&arch=$arch&component=$component"
  fetch "$server/api/v1/agent-versions/latest?$query" "$work/latest.json" 2>"$work/why" || return 1
  version=$(field version)
  checksum=$(field checksum)
  [ ${#checksum} = 64 ] && [ -n "$version" ] || fail "$server did not say which $component to install"
  fetch "$server/api/v1/agents/download/$os/$arch?component=$component&version=$version" "$work/$component" ||
    fail "the $component could not be downloaded"
  [ "$(sha256 "$work/$component")" = "$checksum" ] ||
    fail "the downloaded $component has another checksum: nothing was installed"
  chmod 755 "$work/$component"
  [ "$("$work/$component" version 2>"$work/why")" = "$version" ] ||
    fail "this machine cannot run the $component: $(head -n 1 "$work/why")"
}
# The file of a running program cannot be overwritten, but renamed.
place() {
  mv -f "$work/$1" "$folder/$1"
}

prepare agent || fail "$server has no agent for $os $arch"
agent_version=$version
# A release may lack it.
with_watchdog=yes
prepare watchdog || with_watchdog=no
place agent
[ $with_watchdog = no ] || place watchdog

if [ ! -f "$state" ]; then
  # All users of this machine can read the arguments of a running program, so secrets are passed in files.
  printf '%s' "$token" >"$work/key"
  set -- enroll --server "$server" --state "$state" --key-file "$work/key"
  if [ -n "$secret" ]; then
    printf '%s' "$secret" >"$work/secret"
    set -- "$@" --secret-file "$work/secret"
  fi
  [ -z "$role" ] || set -- "$@" --device-role "$role"
  "$program" "$@" || fail 'this machine could not be enrolled'
fi

# A systemd service that is restarted whenever it ends, while this machine is enrolled.
unit() {
  file=$prefix/etc/systemd/system/$1.service
  mkdir -p "$(dirname "$file")"
  cat >"$file" <<UNIT
[Unit]
Description=$2
After=network-online.target
Wants=network-online.target
ConditionPathExists=$state

[Service]
ExecStart=$3
Restart=always
RestartSec=2
RestartPreventExitStatus=3
SuccessExitStatus=75

[Install]
WantedBy=multi-user.target
UNIT
  chmod 644 "$file"
}
# The same for launchd; the arguments follow the name.
daemon() {
  file=$prefix/Library/LaunchDaemons/$1.plist
  label=$1
  shift
  mkdir -p "$(dirname "$file")"
  {
    cat <<PLIST
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>Label</key><string>$label</string>
<key>ProgramArguments</key><array>
PLIST
    for word in "$@"; do echo "<string>$word</string>"; done
    cat <<PLIST
</array>
<key>RunAtLoad</key><true/><key>ThrottleInterval</key><integer>5</integer>
<key>KeepAlive</key><dict><key>PathState</key><dict><key>$state</key><true/></dict></dict>
</dict></plist>
PLIST
  } >"$file"
  chmod 644 "$file"
}

# Without an option an update keeps what the installed service has.
if [ -z "$power" ] && grep -qs -e --no-power "$prefix/etc/systemd/system/quartermaster-agent.service" \
  "$prefix/Library/LaunchDaemons/quartermaster-agent.plist"; then power=no; fi
switch=''
[ "$power" != no ] || switch=' --no-power'

names=quartermaster-agent
[ $with_watchdog = no ] || names="$names quartermaster-watchdog"
if [ $os = linux ]; then
  unit quartermaster-agent 'Quartermaster agent' "\"$program\" run --supervised --state \"$state\"$switch"
  [ $with_watchdog = no ] || unit quartermaster-watchdog 'Quartermaster watchdog' \
    "\"$watchdog\" watchdog --service quartermaster-agent --supervised --state \"$state\""
else
  # shellcheck disable=SC2086 # one word or none
  daemon quartermaster-agent "$program" run --supervised --state "$state" $switch
  [ $with_watchdog = no ] || daemon quartermaster-watchdog \
    "$watchdog" watchdog --service quartermaster-agent --supervised --state "$state"
fi

if [ $start = yes ] && [ -z "$prefix" ]; then
  if [ $os = macos ]; then
    for name in $names; do
      launchctl unload "/Library/LaunchDaemons/$name.plist" 2>/dev/null || true
      launchctl load "/Library/LaunchDaemons/$name.plist"
    done
  elif [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    for name in $names; do
      systemctl enable --quiet "$name"
      systemctl restart "$name"
    done
  else
    echo "systemd does not run here. Have this started with the machine:"
    if [ $with_watchdog = yes ]; then
      echo "  $watchdog watchdog --program $program --state $state$switch"
    else
      echo "  $program run --state $state$switch"
    fi
  fi
fi
echo "The Quartermaster agent $agent_version is installed."
