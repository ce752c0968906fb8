/** Verifies hash chains of the audit trail, and prints a line for each. */
import type { Trail } from '../../core/audit/trail.ts';
import { type Verdict, verifyChain } from '../../core/audit/verify.ts';

export interface Period {
  from?: Date | undefined;
  to?: Date | undefined;
}

/** @param owner one chain; without it all of them. Returns false when any chain has a fault */
export async function verifyChains(trail: Trail, owner: string | undefined, period: Period): Promise<boolean> {
  let ok = true;
  for (const one of owner ? [owner] : await ownersOf(trail)) {
    const verdict = await verifyChain(trail, one, period);
    printVerdict(verdict);
    ok = verdict.ok && ok;
  }
  return ok;
}

export function printVerdict({ owner, checked, checkpoints, firstBad, brokenCheckpoint }: Verdict): void {
  const fault = firstBad && `row ${firstBad.seq}${firstBad.id && ` ${firstBad.id}`}: ${firstBad.problem}`;
  const broken = brokenCheckpoint
    ? `, checkpoint ${brokenCheckpoint.id} of size ${brokenCheckpoint.size} is broken`
    : '';
  const result = fault ? `FAIL  ${fault}${broken}` : `PASS  ${checked} entries, ${checkpoints} checkpoints`;
  process.stdout.write(`${owner}  ${result}\n`);
}

/** Every chain that any table of the trail names, so that a chain whose entries were deleted is verified too. */
async function ownersOf(trail: Trail): Promise<string[]> {
  const { rows } = await trail.query<{ owner: string }>(
    `select owner from audit_heads union select owner from audit_trees union select owner from audit_anchors
     union select owner from audit_checkpoints union select owner from audit_logs order by owner`,
  );
  return rows.map((row) => row.owner);
}
