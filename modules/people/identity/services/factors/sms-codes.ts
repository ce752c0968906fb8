/** Codes sent by text message: made by the job that sends them, valid once for one purpose. */
import { randomInt, randomUUID } from 'node:crypto';
import { type Context, SmsError } from '#core';
import { equalHash } from '#core/auth';
import { ownerOf, placesOf } from '../access/places.ts';

const CODE_SECONDS = 600;
const MOST_TRIES = 5;
/** A person waits for it in front of a screen. */
const PRIORITY = -10;

/** The purpose of a code; it is not valid for another purpose, temporary token or session. */
export interface SmsPurpose {
  purpose: 'phone' | 'login' | 'disable';
  /** The user for `phone`, the hash of the temporary token for `login`, the session for `disable`. */
  boundTo: string;
}
interface SmsCode extends SmsPurpose {
  userId: string;
  phoneNumber: string;
}

const SAYS = {
  phone: 'confirms this phone number',
  login: 'logs you in',
  disable: 'switches two-factor authentication off',
};

export const masked = (phoneNumber: string): string => `•••${phoneNumber.slice(-4)}`;

const macOf = (ctx: Context, { purpose, boundTo, userId, phoneNumber }: SmsCode, code: string) =>
  ctx.services.mac('sms-code', [purpose, boundTo, userId, phoneNumber, code].join(' '));

/** Requests a new code in this transaction; it invalidates an older one for the same purpose. */
export async function requestCode(ctx: Context, { purpose, boundTo, userId, phoneNumber }: SmsCode): Promise<void> {
  const id = randomUUID();
  await ctx.sql(
    `insert into sms_codes (id, user_id, purpose, bound_to, phone_number, expires_at)
     values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
     on conflict (purpose, bound_to) do update set id = excluded.id, phone_number = excluded.phone_number,
       code_mac = null, attempts = 0, expires_at = excluded.expires_at`,
    [id, userId, purpose, boundTo, phoneNumber, CODE_SECONDS],
  );
  ctx.addJob('identity/send-code', { id }, { orgId: null, priority: PRIORITY });
}

const COLUMNS = 'purpose, bound_to as "boundTo", user_id as "userId", phone_number as "phoneNumber"';

/** A correct code, to be consumed in the transaction that acts on it. */
export interface RightCode {
  id: string;
  mac: string;
  phoneNumber: string;
}

/**
 * Counts an attempt and compares; null for a wrong code and after five attempts. Must commit before its result is used, so
 * that a wrong code stays counted.
 */
export async function tryCode(
  ctx: Context,
  userId: string,
  { purpose, boundTo }: SmsPurpose,
  code: string,
): Promise<RightCode | null> {
  const { rows } = await ctx.sql<SmsCode & { id: string; mac: string }>(
    `update sms_codes set attempts = attempts + 1
     where purpose = $1 and bound_to = $2 and user_id = $3 and code_mac is not null and attempts < $4
       and expires_at > now()
     returning id, code_mac as mac, ${COLUMNS}`,
    [purpose, boundTo, userId, MOST_TRIES],
  );
  const [found] = rows;
  if (!found || !equalHash(found.mac, macOf(ctx, found, code))) return null;
  return { id: found.id, mac: found.mac, phoneNumber: found.phoneNumber };
}

/** False when a concurrent request has consumed the code. */
export async function useCode(ctx: Context, { id, mac }: RightCode): Promise<boolean> {
  const { rowCount } = await ctx.sql('delete from sms_codes where id = $1 and code_mac = $2', [id, mac]);
  return rowCount === 1;
}

/** Deletes codes sent to a number that is no longer the second factor. */
export async function dropCodes(ctx: Context, userId: string): Promise<void> {
  await ctx.sql('delete from sms_codes where user_id = $1', [userId]);
}

/**
 * Makes the code and sends it; a retry after a failed send makes another. Ends quietly for a request that was replaced,
 * used or is too old. A number that the SMS service refuses permanently is recorded and not retried.
 */
export async function sendCode(ctx: Context, id: string): Promise<void> {
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const wanted = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<SmsCode>(
      `select ${COLUMNS} from sms_codes where id = $1 and expires_at > now() for update`,
      [id],
    );
    if (!rows[0]) return null;
    await own.sql(
      'update sms_codes set code_mac = $2, attempts = 0, expires_at = now() + make_interval(secs => $3) where id = $1',
      [id, macOf(ctx, rows[0], code), CODE_SECONDS],
    );
    return rows[0];
  });
  if (!wanted) return;
  const text = `${code} ${SAYS[wanted.purpose]} at Quartermaster. Valid for 10 minutes; do not share it.`;
  try {
    await ctx.services.sms.send({ to: wanted.phoneNumber, text });
  } catch (error) {
    if (!(error instanceof SmsError && error.permanent)) throw error;
    await giveUp(ctx, id, wanted, error);
  }
}

async function giveUp(ctx: Context, id: string, { userId, phoneNumber, purpose }: SmsCode, error: SmsError) {
  const [place] = await placesOf(ctx, userId);
  await ctx.sql('delete from sms_codes where id = $1', [id]);
  ctx.log.warn({ userId, purpose, error: error.message }, 'text message refused');
  ctx.audit('auth.sms.refused', {
    ...ownerOf(place),
    resourceType: 'user',
    resourceId: userId,
    details: { purpose, phone: masked(phoneNumber) },
    result: 'failure',
    errorMessage: error.message,
  });
}
