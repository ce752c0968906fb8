#!/bin/sh
# Moves into a file system that holds the skeleton, Node, the runtime and one package, all read-only, and runs the command
# there. Called in mount and process namespaces of its own; see jail.ts.
set -e
skeleton=$1 node=$2 runtime=$3 package=$4 userns=$5
shift 5
# In a user namespace of its own: what runs there makes no further ones.
if [ "$userns" = yes ]; then echo 0 >/proc/sys/user/max_user_namespaces; fi
mount --bind "$skeleton" "$skeleton"
mount --bind -o ro,nosuid,nodev "$node" "$skeleton/node"
mount --bind -o ro,nosuid,nodev,noexec "$runtime" "$skeleton/runtime"
mount --bind -o ro,nosuid,nodev,noexec "$package" "$skeleton/package"
# Only for umount, which looks up what is mounted.
mount --rbind /proc "$skeleton/proc"
mount -o remount,bind,ro,nosuid,nodev "$skeleton"
cd "$skeleton"
pivot_root . old
cd /
/bin/umount -l /old
/bin/umount -l /proc
unset PWD OLDPWD
exec "$@"
