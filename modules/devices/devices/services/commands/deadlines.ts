/** The two clocks of a command, and the second delivery of one whose first was lost. Platform role; bounded. */
import type { Context } from '#core';
import { COMMAND_FIELDS, type Command } from '../../models/command.ts';
import { tellFinished } from './queue.ts';

const MOST = 5000;
/** After so many deliveries without a word the command is left to its time limit. */
export const MOST_ATTEMPTS = 5;

const RETURNED = COMMAND_FIELDS.replaceAll(/(^|, )(\w+) as/g, '$1c.$2 as');

/** Undelivered past its deadline: expired. */
export async function expireCommands(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Command>(
    `with due as (
       select id from device_commands where status = 'pending' and deliver_by <= now()
       order by deliver_by limit ${MOST} for update skip locked)
     update device_commands c set status = 'expired', finished_at = now(), payload = '{}'
     from due where c.id = due.id returning ${RETURNED}`,
  );
  for (const command of rows) tellFinished(ctx, command);
}

/** Waiting for nobody: somebody asked to cancel it before it came back, or whoever ordered it may do so no more. */
export async function cancelUnwanted(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Command>(
    `with due as (
       select c.id from device_commands c where c.status = 'pending' and (c.cancel_requested_at is not null
         or c.created_by is not null and not exists (select from users u where u.id = c.created_by and u.status = 'active')
         or c.source = 'api_key' and exists (select from api_keys k where k.id = c.source_id and k.status = 'revoked'))
       order by c.id limit ${MOST} for update of c skip locked)
     update device_commands c set status = 'cancelled', finished_at = now(), payload = '{}',
       error = case when c.cancel_requested_at is null then 'Whoever ordered it is not active any more' end
     from due where c.id = due.id returning ${RETURNED}`,
  );
  for (const command of rows) tellFinished(ctx, command);
}

/** No result a minute past the time it may run: a timeout, which a late result still replaces for a day. */
export async function timeOutCommands(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<Command>(
    `with due as (
       select id from device_commands where status in ('sent', 'running')
         and coalesce(started_at, sent_at) < now() - make_interval(secs => coalesce(run_limit_seconds, execution_timeout_seconds + 60))
       order by sent_at limit ${MOST} for update skip locked)
     update device_commands c set status = 'timeout', provisional = true, finished_at = now(), payload = '{}'
     from due where c.id = due.id returning ${RETURNED}`,
  );
  for (const command of rows) tellFinished(ctx, command);
}

/** Given out two minutes ago and never begun: the answer that carried it was probably lost, so it is given out again. */
export async function redeliverCommands(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<{ deviceId: string }>(
    `with due as (
       select id from device_commands where status = 'sent' and started_at is null and deliver_by > now()
         and sent_at < now() - interval '2 minutes' and attempt < ${MOST_ATTEMPTS}
       order by sent_at limit ${MOST} for update skip locked)
     update device_commands c set status = 'pending' from due where c.id = due.id returning c.device_id as "deviceId"`,
  );
  for (const deviceId of new Set(rows.map((row) => row.deviceId))) ctx.hint('devices.commands', deviceId);
}
