/** Invented folders: names of files, without contents. */

import type { FileEntry, OsType } from '#agent-protocol';
import { ToolError } from '../../tools/contract.ts';
import { found, type LiveTool, text } from './answers.ts';

/** What lies in which folder; names with a dot are files. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  '': ['data', 'logs', 'readme.txt'],
  data: ['reports', 'customers.csv'],
  'data/reports': ['january.pdf', 'february.pdf'],
  logs: ['agent.log', 'system.log'],
};

export function fileTools(osType: OsType): Record<string, LiveTool> {
  const [separator, root] = osType === 'windows' ? ['\\', 'C:\\'] : ['/', '/'];
  const none = () => {
    throw new ToolError('UNSUPPORTED', 'A simulated device has names of files, but no contents');
  };
  return {
    file_list({ path }) {
      const at = text(path);
      if (at === '') return { path: '', parent: null, entries: [entry(root, root, 'directory')], truncated: false };
      const parts = at.slice(root.length).split(separator).filter(Boolean);
      const names = found(at.startsWith(root) ? FOLDERS[parts.join('/')] : undefined, `folder ${at}`);
      const below = (name: string) => `${[root.replace(/[\\/]$/, ''), ...parts, name].join(separator)}`;
      const entries = names.map((name) => entry(name, below(name), name.includes('.') ? 'file' : 'directory'));
      const parent = parts.length === 0 ? '' : `${root}${parts.slice(0, -1).join(separator)}`;
      return { path: at, parent, entries, truncated: false };
    },
    file_read: none,
    file_write: none,
  };
}

const entry = (name: string, path: string, type: FileEntry['type']): FileEntry => ({
  ...{ name, path, type, size: type === 'file' ? 1_024 : null, modified: '2026-01-05T08:00:00.000Z' },
  ...{ permissions: null, hidden: false },
});
