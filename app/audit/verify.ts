/** Verifies hash chains of the audit trail, and prints a line for each. */
import { type Archived, archivedCheckpoints, archiveFault } from '../../core/audit/proofs/archived-checkpoints.ts';
import type { Trail } from '../../core/audit/trail.ts';
import { type Verdict, verifyChain } from '../../core/audit/verify.ts';
import type { TrailStore } from './open-trail.ts';

export interface Period {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** @param owner one chain; without it all of them. Returns false when any chain has a fault */
export async function verifyChains(
  { trail, archive }: TrailStore,
  owner: string | undefined,
  period: Period,
): Promise<boolean> {
  const archived = await archive((store) => archivedCheckpoints(trail, store));
  let ok = true;
  const owners = owner ? [owner] : [...new Set([...(await ownersOf(trail)), ...archived.keys()])].sort();
  for (const one of owners) {
    const verdict = await againstArchive(trail, await verifyChain(trail, one, period), archived.get(one));
    printVerdict(verdict);
    ok = verdict.ok && ok;
  }
  return ok;
}

/** A chain that fits by itself still has to fit the checkpoints outside the database. */
async function againstArchive(trail: Trail, verdict: Verdict, archived: Archived[] = []): Promise<Verdict> {
  const found = verdict.ok ? await archiveFault(trail, verdict.owner, archived) : null;
  if (!found) return verdict;
  const { problem, seq, checkpoint } = found;
  return {
    ...verdict,
    ok: false,
    firstBad: { id: '', seq, problem },
    brokenCheckpoint: { id: checkpoint.id, size: checkpoint.size },
  };
}

export function printVerdict({ owner, checked, checkpoints, firstBad, brokenCheckpoint }: Verdict): void {
  const fault = firstBad && `row ${firstBad.seq}${firstBad.id && ` ${firstBad.id}`}: ${firstBad.problem}`;
  const broken = brokenCheckpoint
    ? `, checkpoint ${brokenCheckpoint.id} of size ${brokenCheckpoint.size} is broken`
    : '';
  const result = fault ? `FAIL  ${fault}${broken}` : `PASS  ${checked} entries, ${checkpoints} checkpoints`;
  process.stdout.write(`${owner}  ${result}\n`);
}

/** Every chain that any table of the trail names, and those of all organizations: a chain that was deleted is verified too. */
async function ownersOf(trail: Trail): Promise<string[]> {
  const { rows } = await trail.query<{ owner: string }>(
    `select owner from audit_heads union select owner from audit_trees union select owner from audit_anchors
     union select owner from audit_checkpoints union select owner from audit_logs
     union select 'org:' || id from organizations`,
  );
  return rows.map((row) => row.owner);
}
