/** The two statements of a delivery queue: claiming messages, and writing what attempts came to. */
import type { AnyDeliveryQueue } from '../contract/index.ts';

const MAX_PAUSED_HOURS = 24;

/**
 * $1 messages wanted, $2 of them for receivers that are not known to be quick, $3 the receivers that are, $4 the lease,
 * $5 the tenants whose messages are paused.
 *
 * Walks from partition to partition along the index and looks at a few rows of each, however long its queue is. The receivers
 * with the least under way come first. Processes claim one at a time, so that the limit of a partition holds over all of them.
 */
export function claimStatement(queue: AnyDeliveryQueue): string {
  const { table, partition, limits, message, receiver } = queue;
  const [receiverColumn] = partition;
  const columns = partition.join(', ');
  const of = (alias: string) => partition.map((column) => `${alias}.${column}`).join(', ');
  const same = partition.map((column) => `q.${column} = lane.${column}`).join(' and ');
  const { join, open, host } = receiverParts(queue);
  const tenants = tenantsOf(queue);
  const sends = (alias: string, column: string) =>
    `(${alias}.${column} is null or ${alias}.${column} <> all ($5::uuid[]))`;
  const ofLane = tenants.filter((column) => partition.includes(column));
  const conditions = [...open, ...ofLane.map((column) => sends('lane', column))];
  const ready = [
    `q.due_at <= now()`,
    ...tenants.filter((column) => !ofLane.includes(column)).map((column) => sends('q', column)),
    ...(queue.ready ? [`(${queue.ready})`] : []),
  ];
  return `
with recursive lane as (
  (select ${columns} from ${table} order by ${columns} limit 1)
  union all
  select following.* from lane cross join lateral (
    select ${of('q')} from ${table} q where (${of('q')}) > (${of('lane')}) order by ${of('q')} limit 1) following),
due as (
  select q.id, q.due_at, lane.${receiverColumn}::text = any ($3::text[]) as quick,
    leased.of_receiver + row_number() over (partition by lane.${receiverColumn} order by q.due_at) as turn
  from lane ${join('lane')}
    cross join lateral (
      select count(*) filter (where ${same}) as of_partition, count(*) as of_receiver from ${table} q
      where q.${receiverColumn} = lane.${receiverColumn} and q.leased_until > now()) leased
    cross join lateral (
      select q.id, q.due_at from ${table} q where ${[same, ...ready].join(' and ')}
      order by q.due_at limit greatest(${limits.perPartition} - leased.of_partition, 0) for update skip locked) q
  where ${[`leased.of_partition < ${limits.perPartition}`, ...conditions].join(' and ')}),
ranked as (
  select due.*, row_number() over (partition by quick order by turn, due_at) as place from due),
chosen as (
  select * from ranked where quick or place <= $2 order by turn, due_at limit $1),
claimed as (
  update ${table} q set lease = $4::uuid, leased_until = now() + interval '${limits.leaseSeconds} seconds',
    due_at = now() + interval '${limits.leaseSeconds} seconds'
  from chosen c where q.id = c.id
  returning q.*)
select q.id, q.lease, ${tenantArray(queue)} as tenants, q.attempts, q.${receiverColumn}::text as receiver,${host} ${message.columns}
from claimed q ${receiver ? join('q') : ''} ${message.from ?? ''}`;
}

const tenantsOf = ({ tenants }: AnyDeliveryQueue): readonly string[] => tenants ?? ['org_id'];
const tenantArray = (queue: AnyDeliveryQueue) =>
  `array_remove(array[${tenantsOf(queue).map((column) => `q.${column}`)}], null)`;

/** SQL: whether the message `q` is paused. $1 the tenants for which the module is off, null for all. */
export const pausedCondition = (queue: AnyDeliveryQueue): string =>
  `($1::uuid[] is null or ${tenantArray(queue)} && $1::uuid[])`;

/** Gives up messages that have been paused for too long. $1 as above, $2 how many at most. */
export const expireStatement = (queue: AnyDeliveryQueue): string => `
with expired as (
  select q.* from ${queue.table} q
  where ${pausedCondition(queue)} and q.created_at < now() - interval '${queue.maxPausedHours ?? MAX_PAUSED_HOURS} hours'
    and (q.leased_until is null or q.leased_until <= now())
  limit $2 for update skip locked),
removed as (
  delete from ${queue.table} q using expired x where q.id = x.id)${queue.onExpired ?? ''}
select id from expired`;

function receiverParts({ name, partition, receiver }: AnyDeliveryQueue) {
  if (!receiver) return { join: () => '', open: [], host: '' };
  const { table, open, host } = receiver;
  const hosts = host ? ` left join delivery_hosts h on h.queue = '${name}' and h.host = ${host}` : '';
  return {
    join: (alias: string) => `join ${table} r on r.id = ${alias}.${partition[0]}${hosts}`,
    open: [`(${open})`, ...(host ? ['(h.paused_until is null or h.paused_until <= now())'] : [])],
    host: host ? ` ${host} as host, h.host is not null as "hostFails",` : '',
  };
}

/**
 * $1 the results as JSON. Only messages whose lease is still held: another process has the others, or they were taken back.
 * A message leaves the queue when it was delivered or given up.
 */
export function resultsStatement({ table, record }: AnyDeliveryQueue): string {
  const fields = record ? `, ${record.fields}` : '';
  const carried = (record?.carries ?? []).map((column) => `, q.${column}`).join('');
  return `
with result as (
  select * from jsonb_to_recordset($1::jsonb) as r (id uuid, lease uuid, status text, seconds float8, error text${fields})),
held as (
  select result.*, q.attempts${carried} from result join ${table} q on q.id = result.id and q.lease = result.lease for update of q),
ended as (
  delete from ${table} q using held h where q.id = h.id and h.status in ('delivered', 'failed')),
waiting as (
  update ${table} q set due_at = now() + make_interval(secs => h.seconds), lease = null, leased_until = null,
    attempts = q.attempts + case when h.status = 'retrying' then 1 else 0 end
  from held h where q.id = h.id and h.status in ('retrying', 'released'))${record?.steps ?? ''}
${record?.last ?? 'select id from held'}`;
}

/** $1 ids to remove, $2 and $3 ids to postpone and until when, $4 the lease. */
export const setAsideStatement = ({ table }: AnyDeliveryQueue): string => `
with removed as (
  delete from ${table} where id = any ($1::uuid[]) and lease = $4::uuid)
update ${table} q set due_at = x.until, lease = null, leased_until = null
from unnest($2::uuid[], $3::timestamptz[]) x (id, until) where q.id = x.id and q.lease = $4::uuid`;
