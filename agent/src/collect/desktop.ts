/** Whether a Linux machine has a desktop to log in at. */
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** What display managers offer for a choice. */
const SESSION_FOLDERS = ['usr/share/xsessions', 'usr/share/wayland-sessions'];
/** The unit that shows the login screen, on distributions with systemd. */
const LOGIN_SCREEN = 'etc/systemd/system/display-manager.service';
/** Sockets of X servers that run now: a kiosk needs neither a login screen nor a choice of sessions. */
const SCREENS = 'tmp/.X11-unix';

/** True where there is no desktop, no login screen and no X server below `root`. */
export async function isHeadlessLinux(root = '/'): Promise<boolean> {
  const lists = await Promise.all([
    ...SESSION_FOLDERS.map((folder) => namesIn(join(root, folder), /\.desktop$/)),
    namesIn(join(root, SCREENS), /^X\d+$/),
  ]);
  if (lists.some((names) => names.length > 0)) return false;
  return access(join(root, LOGIN_SCREEN)).then(
    () => false,
    () => true,
  );
}

async function namesIn(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => pattern.test(name));
}
