/** A platform with chains to tamper with, and the tools of somebody who has the database's superuser. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { storable } from '#core/work';
import { startTestPlatform } from '#test';
import { EVERYWHERE, NOBODY } from '../../context/index.ts';
import { checksumOf, SEALED_COLUMNS, type SealedRow, sealedRow } from '../chain.ts';
import { writeCheckpoint } from '../proofs/checkpoints.ts';
import { coveringCheckpoint, exportChain } from '../proofs/exports.ts';
import { verifierKey } from '../proofs/notes.ts';
import { currentKey } from '../proofs/signing-keys.ts';
import { auditRow } from '../record.ts';
import type { Trail } from '../trail.ts';

const HOST = 'rmm.example.com';

export async function openGround() {
  const platform = await startTestPlatform();
  const { database, services } = platform.platform.tasks.work;
  const pool = database.platform;
  const trail: Trail = { mac: services.mac, seal: services.seal, query: (text, values) => pool.query(text, values) };

  const inTransaction = async <T>(run: (trail: Trail) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const result = await run({
        mac: services.mac,
        seal: services.seal,
        query: (text, values) => client.query(text, values),
      });
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  };

  /** Adds entries to an organization's trail and has them sealed; each a second after the one before it. */
  const fill = async (orgId: string, count: number, from = 0) => {
    const audits = Array.from({ length: count }, (_, n) => ({
      ...auditRow({ ...NOBODY, kind: 'user', id: randomUUID() }, EVERYWHERE, 'site.update', {
        orgId,
        resourceName: `Site ${from + n + 1}`,
        details: { n: from + n + 1, list: [1.5, { b: 1, a: null }] },
      }),
      at: timeOf(from + n + 1).toISOString(),
    }));
    await platform.sql('select flush_effects($1::jsonb)', [storable({ audits })]);
    await platform.platform.settle();
  };

  const checkpoint = (owner: string) => inTransaction((own) => writeCheckpoint(own, owner, HOST));

  /** A chain of so many rows, with checkpoints at the places named. */
  const chain = async (count: number, checkpoints: number[] = [count]) => {
    const orgId = randomUUID();
    const owner = `org:${orgId}`;
    let filled = 0;
    for (const place of [...checkpoints, count]) {
      if (place > filled) await fill(orgId, place - filled, filled);
      filled = place;
      if (checkpoints.includes(place)) await checkpoint(owner);
    }
    return { orgId, owner };
  };

  /** What the superuser's password allows: the triggers are out of the way for one change. */
  const tamper = (change: string) =>
    platform.sql(
      `begin; alter table audit_logs disable trigger all; ${change};
       alter table audit_logs enable always trigger audit_logs_append_only;
       alter table audit_logs enable always trigger audit_logs_no_truncate; commit`,
    );

  const rowsOf = async (owner: string, from = 1): Promise<SealedRow[]> =>
    (
      await platform.sql<SealedRow>(
        `select ${SEALED_COLUMNS} from audit_logs where owner = $1 and seq >= $2 order by seq`,
        [owner, from],
      )
    ).map(sealedRow);

  const idAt = async (owner: string, seq: number) => (await rowsOf(owner, seq))[0]?.id ?? '';

  /** Changes one row and hashes it and all behind it anew, as the sealer would have; with the head, when asked. */
  const rewrite = async (owner: string, seq: number, head = true) => {
    const rows = await rowsOf(owner, seq);
    let previous = rows[0]?.prevChecksum ?? null;
    const changes = rows.map((row, index) => {
      const { checksum: _, ...covered } = { ...row, prevChecksum: previous };
      if (index === 0) covered.resourceName = 'something else';
      const checksum = checksumOf(covered);
      const change = `update audit_logs set resource_name = '${covered.resourceName}', checksum = '${checksum}',
        prev_checksum = ${previous === null ? 'null' : `'${previous}'`} where id = '${row.id}'`;
      previous = checksum;
      return change;
    });
    if (head) changes.push(`update audit_heads set checksum = '${previous}' where owner = '${owner}'`);
    await tamper(changes.join('; '));
  };

  /** What the export gives, in a file, after the newest checkpoint was written where that is possible. */
  const exported = (owner: string, after = 0, last = Number.MAX_SAFE_INTEGER) =>
    inTransaction(async (own) => {
      const lines: string[] = [];
      const newest = await coveringCheckpoint(own, owner, HOST);
      await exportChain(
        own,
        owner,
        { after, last, checkpoint: newest, covered: true },
        (line) => void lines.push(line),
      );
      const file = join(platform.dataDir, `${randomUUID()}.ndjson`);
      await writeFile(file, `${lines.join('\n')}\n`);
      return file;
    });

  /** Notes as they would lie outside the database. */
  const notes = async (owner: string) => {
    const rows = await platform.sql<{ note: string }>('select note from audit_checkpoints where owner = $1', [owner]);
    const file = join(platform.dataDir, `${randomUUID()}.notes`);
    await writeFile(file, rows.map(({ note }) => JSON.stringify({ note })).join('\n'));
    return file;
  };

  const publicKey = async () => verifierKey((await inTransaction((own) => currentKey(own, HOST))).key);

  return {
    platform,
    pool,
    trail,
    inTransaction,
    fill,
    chain,
    checkpoint,
    tamper,
    rewrite,
    rowsOf,
    idAt,
    exported,
    notes,
    publicKey,
  };
}

/** When the row at a place of a test's chain says that it happened. */
export const timeOf = (seq: number): Date => new Date(Date.UTC(2026, 0, 1) + seq * 1000);
