/** The mail that notifies a partner of a trial that ends soon. */
import type { Context } from '#core';

export interface TrialNotice {
  partnerId: string;
  key: string;
  days: number;
  /** ISO 8601, UTC. */
  expiresAt: string;
}

/** The billing address, else the administrators with access to the whole partner. */
async function recipients(ctx: Context, partnerId: string): Promise<string[]> {
  const { rows } = await ctx.asPlatform((own) =>
    own.sql<{ email: string }>(
      `select p.billing_email as email from partners p where p.id = $1 and p.billing_email is not null
       union all
       (select u.email from partner_users m join users u on u.id = m.user_id and u.status = 'active'
        join partners p on p.id = m.partner_id and p.billing_email is null
        where m.partner_id = $1 and m.org_access = 'all' and exists (
          select from role_permissions rp join permissions x on x.id = rp.permission_id
          where rp.role_id = m.role_id and x.resource = '*' and x.action = '*')
        order by u.email limit 20)`,
      [partnerId],
    ),
  );
  return rows.map(({ email }) => email);
}

export async function sendTrialNotice(ctx: Context, { partnerId, key, days, expiresAt }: TrialNotice): Promise<void> {
  const title = ctx.services.modules.all.find(({ name }) => name === key)?.title ?? key;
  const left = days === 1 ? 'one day' : `${days} days`;
  for (const to of await recipients(ctx, partnerId)) {
    await ctx.services.mail.send({
      to,
      subject: `Quartermaster: the trial of ${title} ends within ${left}`,
      text: `Hello,\n\nthe trial of ${title} ends at ${expiresAt.slice(0, 16).replace('T', ' ')} UTC. It is switched off then.\nWhat was made with it is kept, and is there again when it is switched on.\n`,
    });
  }
}
