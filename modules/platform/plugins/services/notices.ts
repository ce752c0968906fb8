/** The mail to the user who installed a plugin that was switched off. */
import type { Context } from '#core';

export interface Notice {
  installationId: string;
  userId: string;
  reason: string;
}

/** Does nothing when plugin or account are gone, or plugins are off there by now. */
export async function sendNotice(ctx: Context, { installationId, userId, reason }: Notice): Promise<void> {
  const found = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{
      slug: string;
      org: string;
      email: string;
      orgId: string | null;
      partnerId: string | null;
    }>(
      `select i.slug, coalesce(o.name, p.name) as org, u.email, i.org_id as "orgId", i.partner_id as "partnerId"
       from plugin_installations i left join organizations o on o.id = i.org_id left join partners p on p.id = i.partner_id,
         users u
       where i.id = $1 and u.id = $2 and u.status = 'active'`,
      [installationId, userId],
    );
    return rows[0];
  });
  if (!found || ctx.services.modules.off('plugins', found)) return;
  const { slug, org, email } = found;
  await ctx.services.mail.send({
    to: email,
    subject: `Plugin switched off: ${oneLine(slug)}`,
    text: `Hello,\n\nthe plugin "${oneLine(slug)}" of ${oneLine(org)} (installation ${installationId}) was switched off: ${oneLine(reason)}\n\nIts log says more. It stays off until it is enabled again.\n`,
  });
}

/** Reasons come from plugins, names from tenants: none of them gets to write lines of its own. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
