/** Retention: the policies of organizations, and deleting expired entries. */
import { type Context, errors, mustReachWholeOrg, openArchive, targetOrg } from '#core';
import { exportChain, type Pruning, planPruning, prune, trailOf } from '#core/audit';
import { DEFAULT_DAYS, RetentionPolicy, type RetentionUpdate } from '../../models/retention-policy.ts';
import { archive } from './archives.ts';
import { forgetNames } from './forgotten-names.ts';

/** Rows in one transaction and one archive; batches in one run of the job, which continues the next day. */
const BATCH = 5000;
const MOST_BATCHES = 200;
const DAY_MS = 86_400_000;

const show = ({ orgId, retentionDays, archiveToS3, lastCleanupAt }: RetentionPolicy) => ({
  orgId,
  retentionDays,
  archiveToS3,
  lastCleanupAt,
});

type Effective = Pick<RetentionPolicy, 'orgId' | 'retentionDays' | 'archiveToS3' | 'lastCleanupAt'>;

async function policyOf(ctx: Context, orgId: string): Promise<Effective> {
  const found = await RetentionPolicy.in(ctx).findById(orgId);
  return found ? show(found) : { orgId, retentionDays: DEFAULT_DAYS, archiveToS3: false, lastCleanupAt: null };
}

/** The stored policy, or the defaults. Throws ORG_REQUIRED, and 403 for an organization out of reach. */
export async function readPolicy(ctx: Context, named: string | undefined) {
  return { data: await policyOf(ctx, targetOrg(ctx, named?.toLowerCase(), errors.OrgRequired)) };
}

/** Sets the given fields and keeps the others. Throws NO_UPDATES without any, TARGET_OUT_OF_SCOPE. */
export async function updatePolicy(ctx: Context, named: string | undefined, changes: RetentionUpdate) {
  mustReachWholeOrg(ctx);
  const orgId = targetOrg(ctx, named?.toLowerCase(), errors.OrgRequired);
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  const before = await policyOf(ctx, orgId);
  const { rows } = await ctx.sql<{ orgId: string } & Effective>(
    `insert into audit_retention_policies (org_id, retention_days, archive_to_s3)
     select $1::uuid, coalesce($2::integer, $4), coalesce($3::boolean, false) where exists (select from organizations where id = $1::uuid)
     on conflict (org_id) do update set retention_days = coalesce($2, audit_retention_policies.retention_days),
       archive_to_s3 = coalesce($3, audit_retention_policies.archive_to_s3), updated_at = now()
     returning org_id as "orgId", retention_days as "retentionDays", archive_to_s3 as "archiveToS3",
       last_cleanup_at as "lastCleanupAt"`,
    [orgId, changes.retentionDays ?? null, changes.archiveToS3 ?? null, DEFAULT_DAYS],
  );
  const [after] = rows;
  if (!after) throw errors.NotFound('Organization not found');
  const values = ({ retentionDays, archiveToS3 }: Effective) => ({ retentionDays, archiveToS3 });
  ctx.audit('audit_logs.retention.update', {
    orgId,
    resourceType: 'audit_retention_policy',
    resourceId: orgId,
    details: { before: values(before), after: values(after) },
  });
  return { data: after };
}

/** Adds one job for each organization with expired entries, including deleted organizations. */
export async function planRetention(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<{ orgId: string }>(
    `select o.id as "orgId" from organizations o left join audit_retention_policies p on p.org_id = o.id
     where exists (select from audit_logs l where l.org_id = o.id
       and l.timestamp < now() - make_interval(days => coalesce(p.retention_days, $1)))`,
    [DEFAULT_DAYS],
  );
  for (const { orgId } of rows) {
    ctx.addJob('audit/prune-organization', { orgId }, { orgId, key: `audit-prune:${orgId}` });
  }
}

interface Step {
  policy: Effective;
  pruning: Pruning;
  /** The content of the archive; empty when archiving is off. */
  lines: string[];
}

async function nextStep(ctx: Context, orgId: string): Promise<Step | null> {
  const policy = await policyOf(ctx, orgId);
  const before = new Date(Date.now() - policy.retentionDays * DAY_MS);
  const trail = trailOf(ctx);
  const owner = `org:${orgId}`;
  const pruning = await planPruning(trail, owner, before, BATCH);
  if (!pruning) return null;
  const lines: string[] = [];
  if (policy.archiveToS3) {
    const { anchor, seq: last, checkpoint } = pruning;
    await exportChain(trail, owner, { after: anchor.seq, last, checkpoint }, (line) => void lines.push(line));
  }
  return { policy, pruning, lines };
}

/**
 * Deletes an organization's expired entries in batches: verified, archived if configured, and only then deleted. Nothing is
 * deleted when a step fails. Idempotent: the anchor lets only one run delete.
 */
export async function pruneOrganization(ctx: Context, orgId: string): Promise<void> {
  const { config } = ctx.services;
  const store = await openArchive(config);
  const done = { pruned: 0, archives: [] as string[], all: false };
  try {
    for (let batch = 0; batch < MOST_BATCHES; batch++) {
      const step = await ctx.asPlatform((own) => nextStep(own, orgId));
      if (!step) break;
      if (step.policy.archiveToS3) done.archives.push(await archive(store, step.pruning, step.lines));
      done.pruned += await ctx.asPlatform((own) => prune(trailOf(own), step.pruning));
    }
    done.all = true;
  } finally {
    store.close();
    if (done.pruned > 0) await ctx.asPlatform((own) => forgetNames(own, orgId));
    await ctx.asPlatform((own) => recordPruning(own, orgId, done));
  }
}

interface Done {
  pruned: number;
  archives: string[];
  all: boolean;
}

/** Records what was deleted even when a later batch failed; the time of the clean-up only when none did. */
async function recordPruning(ctx: Context, orgId: string, { pruned, archives, all }: Done): Promise<void> {
  if (all) {
    await ctx.sql(
      `insert into audit_retention_policies (org_id, last_cleanup_at) values ($1, now())
       on conflict (org_id) do update set last_cleanup_at = now()`,
      [orgId],
    );
  }
  if (pruned === 0) return;
  ctx.audit('audit_logs.prune', {
    orgId,
    resourceType: 'audit_logs',
    details: { pruned, archives: archives.slice(0, 20) },
  });
}
