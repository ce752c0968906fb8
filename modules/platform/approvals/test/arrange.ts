/** Kinds of requests that tests declare, and calls of this module's operations. */
import { randomUUID } from 'node:crypto';
import { runUnitOfWork } from '#core/work';
import type { Called, ErrorBody, Person, Tenant, TestPlatform } from '#test';
import type { Actor, Context } from '../../../../core/context/index.ts';
import { NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';
import type { ApprovalRequest, Asked, Asking } from '../models/asking.ts';
import type { ApprovalKind } from '../slots/kind.ts';

export interface Shown {
  id: string;
  orgId: string;
  kind: string;
  kindTitle: string | null;
  title: string;
  details: { label: string; value: string }[];
  status: string;
  mayDecide: boolean;
  askedBy: { userId: string; apiKeyId: string | null; name: string };
  decidedBy: { userId: string; name: string } | null;
  decidedAt: string | null;
  decisionReason: string | null;
  outcome: string | null;
  outcomeCode: string | null;
  outcomeMessage: string | null;
  result: Record<string, unknown> | null;
  version: number;
  deviceIds: string[];
}
export type Answer = Called<{ data: Shown } & ErrorBody>;

/** What a kind of a test has heard. */
export interface Heard {
  kind: string;
  carriedOut: ApprovalRequest[];
  ended: string[];
}

/** Adds a kind to those of the modules for the life of this platform. */
export function declareKind({ platform }: TestPlatform, more: Partial<ApprovalKind> = {}): Heard {
  const kind = `approvals.test-${randomUUID().slice(0, 8)}`;
  const heard: Heard = { kind, carriedOut: [], ended: [] };
  const declared: ApprovalKind = {
    ...{ kind, title: 'Test', permission: 'devices:execute', askerPermission: 'devices:execute', expiresInMinutes: 60 },
    summarize: (_ctx, { input }) => ({ title: 'A test', details: [{ label: 'Size', value: String(input.size) }] }),
    onApproved: async (_ctx, request) => {
      heard.carriedOut.push(request);
      return { size: request.input.size };
    },
    onRejected: async () => void heard.ended.push('rejected'),
    onExpired: async () => void heard.ended.push('expired'),
    onCancelled: async () => void heard.ended.push('cancelled'),
    ...more,
  };
  const { work } = platform.tasks;
  const { contributions } = work;
  work.contributions = (slot, ...rest) =>
    slot === 'approvals.kind'
      ? [...contributions.call(work, slot, ...rest), declared]
      : contributions.call(work, slot, ...rest);
  return heard;
}

/** Work of a person, as a request of theirs does it. */
export function asPerson<T>(
  { platform }: TestPlatform,
  { orgId, partnerId }: Pick<Tenant, 'orgId' | 'partnerId'>,
  actor: Partial<Actor>,
  run: (ctx: Context) => Promise<T>,
): Promise<T> {
  const { work, log } = platform.tasks;
  const who: Actor = { ...NOBODY, kind: 'user', name: 'Asker', ...actor };
  const scope = organizationScope(orgId, partnerId);
  return runUnitOfWork(work, { actor: who, scope, requestId: randomUUID(), log, role: 'app' }, run);
}

export const ask = (
  platform: TestPlatform,
  at: Pick<Tenant, 'orgId' | 'partnerId'>,
  asker: Pick<Person, 'id'>,
  asking: Partial<Asking> & { kind: string },
): Promise<Asked> =>
  asPerson(platform, at, { id: asker.id }, (ctx) =>
    ctx.use('approvals').ask({
      ...{ subject: { type: 'test', id: randomUUID() }, orgId: at.orgId, input: { size: 1 } },
      ...asking,
    }),
  );

export const read = (platform: TestPlatform, token: string, id: string): Promise<Answer> =>
  platform.call('GET', `/approvals/${id}`, { token });
export const decide = (
  platform: TestPlatform,
  token: string,
  id: string,
  how: 'approve' | 'reject' | 'cancel',
): Promise<Answer> =>
  platform.call('POST', `/approvals/${id}/${how}`, { token, body: how === 'reject' ? { reason: 'Not now' } : {} });
export const refusalOf = ({ status, body }: Answer): unknown[] => [status, body.error?.code];
