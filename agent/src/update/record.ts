/** What must be remembered over the restart of an update: in one file beside the agent's state. */
import { readFile, rm } from 'node:fs/promises';
import { writeAtomically } from '../store/atomic-file.ts';

export interface UpdateRecord {
  from: string;
  to: string;
  program: string;
  /** How often the new version began without being confirmed. */
  starts: number;
  /** When it was installed, ISO 8601; missing in records of older agents. */
  at?: string;
  /** The old program is back; the server has still to hear of it. */
  rolledBack?: boolean;
}
export interface RecordStore {
  read(): Promise<UpdateRecord | undefined>;
  write(record: UpdateRecord): Promise<void>;
  remove(): Promise<void>;
}

export function fileRecord(path: string): RecordStore {
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => undefined);
      if (text === undefined) return undefined;
      try {
        const record = JSON.parse(text) as UpdateRecord;
        return record.from && record.to && record.program ? record : undefined;
      } catch {
        return undefined;
      }
    },
    write: (record) => writeAtomically(path, `${JSON.stringify(record)}\n`),
    remove: () => rm(path, { force: true }),
  };
}
