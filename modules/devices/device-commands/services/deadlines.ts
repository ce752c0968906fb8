/** Expires, times out, cancels and redelivers commands, a bounded number at a time. Platform role. */
import type { Context } from '#core';
import { COMMAND_FIELDS, type Command } from '../models/command.ts';
import { announceEnd } from './queue.ts';

/** Commands changed by one statement. */
const BATCH_SIZE = 5000;
/** Deliveries without a response after which a command is left to its time limit. */
export const MAX_DELIVERIES = 5;

const RETURNED = COMMAND_FIELDS.replaceAll(/(^|, )(\w+) as/g, '$1c.$2 as');

/** Commands that were not delivered by their deadline: expired. */
export async function expireCommands(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Command>(
    `with due as (
       select id from device_commands where status = 'pending' and deliver_by <= now()
       order by deliver_by limit ${BATCH_SIZE} for update skip locked)
     update device_commands c set status = 'expired', finished_at = now(), payload = '{}'
     from due where c.id = due.id returning ${RETURNED}`,
  );
  for (const command of rows) announceEnd(ctx, command);
}

/** Waiting commands that were cancelled before they came back to the queue, or whose sender is no longer authorized. */
export async function cancelUnwanted(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Command>(
    `with due as (
       select c.id from device_commands c where c.status = 'pending' and (c.cancel_requested_at is not null
         or c.created_by is not null and not exists (select from users u where u.id = c.created_by and u.status = 'active')
         or c.source = 'api_key' and exists (select from api_keys k where k.id = c.source_id and k.status = 'revoked'))
       order by c.id limit ${BATCH_SIZE} for update of c skip locked)
     update device_commands c set status = 'cancelled', finished_at = now(), payload = '{}',
       error = case when c.cancel_requested_at is null then 'The sender of the command is no longer active' end
     from due where c.id = due.id returning ${RETURNED}`,
  );
  for (const command of rows) announceEnd(ctx, command);
}

/** Commands without a result a minute after their execution timeout: a timeout, which a late result replaces for a day. */
export async function timeOutCommands(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Command>(
    `with due as (
       select id from device_commands where status in ('sent', 'running')
         and coalesce(started_at, sent_at) < now() - make_interval(secs => coalesce(run_limit_seconds, execution_timeout_seconds + 60))
       order by sent_at limit ${BATCH_SIZE} for update skip locked)
     update device_commands c set status = 'timeout', provisional = true, finished_at = now(), payload = '{}'
     from due where c.id = due.id returning ${RETURNED}`,
  );
  for (const command of rows) announceEnd(ctx, command);
}

/** Commands given out two minutes ago and never started: the response was probably lost, so they are given out again. */
export async function redeliverCommands(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<{ deviceId: string }>(
    `with due as (
       select id from device_commands where status = 'sent' and started_at is null and deliver_by > now()
         and sent_at < now() - interval '2 minutes' and attempt < ${MAX_DELIVERIES}
       order by sent_at limit ${BATCH_SIZE} for update skip locked)
     update device_commands c set status = 'pending' from due where c.id = due.id returning c.device_id as "deviceId"`,
  );
  for (const deviceId of new Set(rows.map((row) => row.deviceId))) ctx.hint('device-commands.waiting', deviceId);
}
