/** Puts a new program in the place of the running one, and the old one back: by names only, so that no moment lacks one. */
import { chmod, copyFile, link, rename, rm } from 'node:fs/promises';
import { fileFault } from './fault.ts';

export const backupOf = (program: string): string => `${program}.previous`;

/** The old program stays as `.previous`. Throws UpdateFault with the old one in its place. */
export async function exchange(program: string, fresh: string): Promise<void> {
  const backup = backupOf(program);
  try {
    await rm(backup, { force: true });
    if (process.platform === 'win32') {
      // A running program cannot be replaced there, but renamed.
      await rename(program, backup);
      await rename(fresh, program).catch(async (error) => {
        await rename(backup, program);
        throw error;
      });
      return;
    }
    await link(program, backup).catch(() => copyFile(program, backup));
    await chmod(fresh, 0o755);
    await rename(fresh, program);
  } catch (error) {
    throw fileFault(error, 'file_locked');
  }
}

/** False where there is nothing to go back to. */
export async function restore(program: string): Promise<boolean> {
  try {
    if (process.platform === 'win32') await rename(program, `${program}.broken`);
    await rename(backupOf(program), program);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
