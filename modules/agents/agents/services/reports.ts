/** Passes samples of agents to the devices module: patches in one part for each source that was scanned. */

import type { PatchesBody, ReportBody } from '#agent-protocol/schemas';
import type { Context } from '#core';
import type { Apis } from '#core/contract';
import { callingDevice } from './commands.ts';

type Report = Parameters<Apis['devices']['submitReport']>[1];

/** `body` has been validated by the schema of its kind. */
export function submitSample(ctx: Context, kind: Report['kind'], body: ReportBody): Promise<{ changed: boolean }> {
  const { snapshotHash, complete, ...rest } = body;
  const { coveredSources: _, ...said } = rest;
  const lists = Object.values(said).filter((value) => Array.isArray(value));
  const empty = lists.every((list) => list.length === 0) && (kind === 'patches' || lists.length > 0);
  return ctx.use('devices').submitReport(callingDevice(ctx), {
    kind,
    parts: kind === 'patches' ? bySource(body as PatchesBody) : [{ body: rest }],
    ...(snapshotHash === undefined ? {} : { snapshotHash }),
    // As for snapshots: a truncated or empty list replaces a filled one only with `complete`.
    whole: complete ?? !empty,
  });
}

/** Ignores entries of sources that were not scanned. */
function bySource({ coveredSources, pending = [], installed = [], scanId, rebootPending }: PatchesBody) {
  return coveredSources.map((source) => ({
    source,
    body: {
      pending: pending.filter((one) => one.source === source),
      installed: installed.filter((one) => one.source === source),
      scanId: scanId ?? null,
      rebootPending: rebootPending ?? null,
    },
  }));
}
