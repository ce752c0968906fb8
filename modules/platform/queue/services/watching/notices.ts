/** Mail to system administrators about a change in queue health. */
import type { Context } from '#core';
import type { HealthChange } from '../../models/health.ts';

const TITLES: Record<HealthChange['rule'], string> = {
  oldest_ready: 'Jobs wait too long',
  failures: 'Jobs fail',
  no_worker: 'No worker runs',
  cron_late: 'A schedule is late',
  outbox: 'The audit trail is behind',
  stuck: 'Jobs are stuck',
  snapshot: 'The queue cannot be counted',
};

/** One mail to each administrator, sent outside of any transaction. A retry may send a mail twice. */
export async function sendNotice(ctx: Context, change: HealthChange): Promise<void> {
  const people = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{ email: string }>(
      `select u.email from system_users s join users u on u.id = s.user_id where u.status = 'active' order by u.email limit 100`,
    );
    return rows.map(({ email }) => email);
  });
  const { subject, text } = letter(ctx, change);
  for (const to of people) await ctx.services.mail.send({ to, subject, text });
}

function letter(ctx: Context, { rule, subject, level, before, detail }: HealthChange) {
  const about = subject === '' ? '' : ` (${subject})`;
  const link = `${ctx.services.config.http.publicUrl}/api/v1/admin/jobs/overview`;
  return {
    subject: `[${level}] ${TITLES[rule]}${about}`,
    text: `${TITLES[rule]}${about}: ${detail}.\n\nIt was ${before} and is ${level} now.\n\n${link}\n`,
  };
}
