/** Where files lie on Windows: drives, the hidden attribute, and what is nobody's business. */
import { win32 } from 'node:path';
import type { Ask } from '../../process/ask.ts';
import type { FilePlaces } from '../contract.ts';
import { hiddenByFolder } from '../hidden.ts';
import { rootEntry } from '../root-entry.ts';
import { powershell, rows } from './powershell.ts';

const DRIVES = `
  [System.IO.DriveInfo]::GetDrives() | Where-Object { $_.IsReady } | ForEach-Object { @{ path = $_.Name } }
`;
const HIDDEN = `
  Get-ChildItem -LiteralPath $asked.folder -Force -Attributes Hidden | ForEach-Object { @{ name = $_.Name } }
`;
/** Where Windows keeps passwords. On every letter of fixed drives: the agent need not know from which one Windows started. */
const SECRETS = [
  'Windows\\System32\\config\\SAM',
  'Windows\\System32\\config\\SECURITY',
  'Windows\\System32\\config\\SYSTEM',
  'Windows\\System32\\config\\RegBack',
  'Windows\\repair',
  'Windows\\NTDS',
];
const LETTERS = [...'CDEFGHIJKLMNOPQRSTUVWXYZ'];

/**
 * Whether a path begins with a drive and names no stream. By the name of a device, over the network from itself or through
 * a stream, a denied file would go under a name that nobody compares.
 */
export function isOnDrive(path: string): boolean {
  return /^[a-z]:[\\/]/i.test(path) && !path.includes(':', 2);
}

/** `own` are the files and folders of the agent. */
export function windowsFiles(ask: Ask, own: readonly string[]): FilePlaces {
  const hidden = hiddenByFolder(async (folder, signal) => {
    const found = await powershell(ask, HIDDEN, { about: folder, asked: { folder }, signal });
    return rows(found).map((row) => String(row.name).toLowerCase());
  });
  return {
    async roots(signal) {
      const drives = rows(await powershell(ask, DRIVES, { about: 'The list of drives', signal }));
      return drives.map(({ path }) => rootEntry(String(path).replace(/\\$/, ''), String(path)));
    },
    async isHidden(path, signal) {
      const { dir, base } = win32.parse(path);
      return base !== '' && (await hidden(dir, signal)).has(base.toLowerCase());
    },
    denied: [...LETTERS.flatMap((letter) => SECRETS.map((path) => `${letter}:\\${path}`)), ...own],
  };
}
