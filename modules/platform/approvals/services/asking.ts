/** Asking for the decision of a second person, for other modules: `ctx.use('approvals').ask(…)`. */
import { randomUUID } from 'node:crypto';
import { type Author, authorNow, type Context, cutText, errors } from '#core';
import { ApprovalLimit } from '../errors.ts';
import { APPROVAL_FIELDS, type Approval } from '../models/approval.ts';
import type { Asked, Asking } from '../models/asking.ts';
import type { ApprovalKind } from '../slots/kind.ts';
import { announceRequest } from './announcements.ts';
import { hashOf, storedInput } from './inputs.ts';
import { mustKnowKind } from './kinds.ts';
import { endRequest } from './transitions.ts';

/** Undecided requests of one organization. */
const MAX_PENDING = 1000;
const MAX_DEVICES = 5000;
/** 30 days. */
const MAX_MINUTES = 43_200;
/** A request of the same subject at the same moment is found by the second attempt. */
const MAX_ATTEMPTS = 3;

interface Asker {
  userId: string;
  keyId: string | null;
  name: string;
  mfa: boolean;
}

/**
 * Asks for a decision, or finds the request that waits for the same input of the same subject. With another input the earlier one is
 * cancelled: it would be stale. Writes the audit entry `approval.request`. @throws APPROVAL_LIMIT_REACHED, 413
 */
export async function ask(ctx: Context, asking: Asking): Promise<Asked> {
  const kind = mustKnowKind(ctx, asking.kind);
  const minutes = asking.expiresInMinutes ?? kind.expiresInMinutes;
  if (!(minutes >= 1 && minutes <= MAX_MINUTES))
    throw new Error(`an approval expires within 1 to ${MAX_MINUTES} minutes`);
  if ((asking.deviceIds?.length ?? 0) > MAX_DEVICES)
    throw new Error(`an approval names at most ${MAX_DEVICES} devices`);
  const inputHash = hashOf(ctx, asking.input);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const open = await openOne(ctx, asking);
    if (open && open.inputHash === inputHash && open.expiresAt > new Date())
      return { id: open.id, expiresAt: open.expiresAt, isNew: false };
    if (open) await replaceOne(ctx, open);
    const row = await insert(ctx, asking, { kind, inputHash, minutes });
    if (!row) continue;
    await announceRequest(ctx, row, kind);
    return { id: row.id, expiresAt: row.expiresAt, isNew: true };
  }
  throw errors.InvalidState('Others ask for the same at this moment');
}

async function openOne(ctx: Context, { orgId, kind, subject }: Asking): Promise<Approval | undefined> {
  const { rows } = await ctx.sql<Approval>(
    `select ${APPROVAL_FIELDS} from approval_requests r
     where r.org_id = $1 and r.kind = $2 and r.subject_type = $3 and r.subject_id = $4 and r.status = 'pending' for update`,
    [orgId, kind, subject.type, subject.id],
  );
  return rows[0];
}

async function replaceOne(ctx: Context, { id }: Approval): Promise<void> {
  const reason = 'It was asked for again with changes';
  const replaced = await endRequest(ctx, id, { status: 'cancelled', reason });
  if (!replaced) await endRequest(ctx, id, { status: 'expired' });
}

interface Made {
  kind: ApprovalKind;
  inputHash: string;
  minutes: number;
}

async function insert(ctx: Context, asking: Asking, { kind, inputHash, minutes }: Made) {
  const { orgId, subject, siteIds = [], deviceIds = [], input, reason } = asking;
  const { rows: counted } = await ctx.sql<{ n: number }>(
    `select count(*)::integer as n from (
       select from approval_requests where org_id = $1 and status = 'pending' limit ${MAX_PENDING}) x`,
    [orgId],
  );
  if ((counted[0]?.n ?? 0) >= MAX_PENDING) throw ApprovalLimit();
  const asker = await askerOf(ctx, asking.author, orgId);
  const { title, details, link } = await kind.summarize(ctx, asking);
  const id = randomUUID();
  const { rows } = await ctx.sql<Approval>(
    `insert into approval_requests as r (id, org_id, kind, subject_type, subject_id, site_ids, device_ids, input, input_hash, title,
       details, link, asked_by, asked_key_id, asked_name, asked_with_mfa, reason, expires_at, causation)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, now() + make_interval(mins => $18), $19)
     on conflict (org_id, kind, subject_id, subject_type) where status = 'pending' do nothing
     returning ${APPROVAL_FIELDS}`,
    [
      ...[id, orgId, kind.kind, subject.type, subject.id, siteIds, deviceIds],
      ...[JSON.stringify(storedInput(ctx, kind, id, input)), inputHash, cutText(title, 255), JSON.stringify(details)],
      ...[link ?? null, asker.userId, asker.keyId, cutText(asker.name, 255), asker.mfa, reason ?? null, minutes],
      JSON.stringify(ctx.causation),
    ],
  );
  return rows[0];
}

/** The person behind it: an API key asks in the name of who made it. Throws where the author is not there any more. */
async function askerOf(ctx: Context, author: Author | undefined, orgId: string): Promise<Asker> {
  const { actor } = ctx;
  if (actor.kind === 'user' && actor.id)
    return { userId: actor.id, keyId: null, name: actor.name ?? actor.email ?? '', mfa: actor.mfa };
  const key = actor.kind === 'api_key' ? actor.id : (author?.apiKeyId ?? null);
  if (key) return askerWithKey(ctx, key);
  if (!author?.userId) throw new Error('an approval is asked for by a person or an API key');
  const found = await authorNow(ctx, author, { orgId, partnerId: null });
  if (!found) throw errors.Forbidden('Who asks has lost access to the organization');
  return { userId: author.userId, keyId: null, name: found.actor.name ?? '', mfa: false };
}

async function askerWithKey(ctx: Context, keyId: string): Promise<Asker> {
  const { rows } = await ctx.sql<{ userId: string; name: string }>(
    `select created_by as "userId", name from api_keys where id = $1 and status = 'active'`,
    [keyId],
  );
  const [key] = rows;
  if (!key) throw errors.Forbidden('The API key is not active any more');
  return { userId: key.userId, keyId, name: key.name, mfa: false };
}
