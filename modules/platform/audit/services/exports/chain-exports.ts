/** Whole canonical rows with their proof, for the offline verifier. */
import { type Context, mustReachWholeOrg, reply } from '#core';
import { coveringCheckpoint, exportChain, stretchOf, trailOf } from '#core/audit';
import type { ExportQuery } from '../../models/checkpoint.ts';
import { ownerFor } from '../owners.ts';
import { hostOf } from '../proofs/checkpoints.ts';
import { mustFindCheckpoint } from '../proofs/proofs.ts';

/**
 * NDJSON; the header `x-next-after` names the start of the next part, if there is one. Recorded as an export. The proof needs
 * every row, so callers who see only a part get 403.
 */
export async function exportTrail(ctx: Context, query: ExportQuery) {
  mustReachWholeOrg(ctx);
  const owner = ownerFor(ctx, query.orgId);
  const trail = trailOf(ctx);
  const { from, to, limit } = query;
  const times = from || to ? await stretchOf(trail, owner, { from, to }) : { before: null, after: null };
  const after = Math.max(query.after, (times.before ?? 1) - 1);
  const end = times.after ?? Number.MAX_SAFE_INTEGER;
  const named = query.checkpointId ? await mustFindCheckpoint(ctx, query.checkpointId, owner) : null;
  const checkpoint = named ?? (await coveringCheckpoint(trail, owner, hostOf(ctx)));
  const lines: string[] = [];
  const stretch = { after, last: end, most: limit, checkpoint, covered: !named };
  const { rows, lastSeq, next } = await exportChain(trail, owner, stretch, (line) => {
    lines.push(line);
  });
  const [kind, id = null] = owner.split(':');
  ctx.audit('audit_logs.chain.export', {
    ...(kind === 'org' ? { orgId: id } : { orgId: null }),
    resourceType: 'audit_logs',
    details: { owner, rows, after, lastSeq },
  });
  return reply(`${lines.join('\n')}\n`, {
    type: 'application/x-ndjson',
    headers: {
      'content-disposition': `attachment; filename="audit-${owner.replace(':', '-')}-${after + 1}.ndjson"`,
      ...(next === null ? {} : { 'x-next-after': String(next) }),
    },
  });
}
