/** Which system user runs the embedded PostgreSQL: ourselves, or an unprivileged one when we are root. */
import { chown, lchown, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedServerError } from './error.ts';

/** A user to change to; undefined where we stay who we are. */
export type ServerUser = { uid: number; gid: number } | undefined;

/**
 * PostgreSQL refuses to run as root. Then the owner of an existing cluster runs it, else `postgres`, else `nobody`.
 * @throws {EmbeddedServerError} when no such user exists, or the cluster belongs to someone else
 */
export async function chooseUser(clusterDir: string): Promise<ServerUser> {
  const owner = await stat(clusterDir).catch(() => undefined);
  const self = process.getuid?.();
  if (self === undefined) return undefined;
  if (self !== 0) {
    if (!owner || owner.uid === self) return undefined;
    throw new EmbeddedServerError(
      `${clusterDir} belongs to user ${owner.uid}, not to user ${self} who runs this process: start as root or change its owner.`,
    );
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = (passwd.split('\n').find((line) => line.startsWith(`${name}:`)) ?? '').split(':');
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedServerError(
    'PostgreSQL does not run as root and there is no user `postgres` or `nobody` to run it: create one, start as another user or set DATABASE_URL.',
  );
}

/** Gives a folder and all in it to the user, as after a restore by root; does nothing when it is theirs already. */
export async function giveTo(user: ServerUser, folder: string): Promise<void> {
  if (!user || (await stat(folder)).uid === user.uid) return;
  for (const entry of await readdir(folder, { recursive: true })) await lchown(join(folder, entry), user.uid, user.gid);
  // The folder last: its owner says whether all of this was done.
  await chown(folder, user.uid, user.gid);
}
