/** The mails about registered partners that wait for a system administrator: to the administrators, and to the partner's users. */
import { type Context, cutText, oneLine } from '#core';

/** A partner's users read about their own registration, so nothing that the person typed who registered is repeated to them. */
const TO_PARTNER = {
  received: [
    'your registration waits for approval',
    'a partner was registered with your account. An administrator of this installation approves or refuses it; you get a mail then. Until then you can log in and read the state of the registration, and nothing else.',
  ],
  approved: ['your registration was approved', 'your partner account is open: log in and begin.'],
  refused: [
    'your registration was refused',
    'an administrator of this installation refused the registration of your partner account.',
  ],
} as const;
type ToPartner = keyof typeof TO_PARTNER;

export const APPROVAL_MAILS = ['waiting', 'received', 'approved', 'refused'] as const;
export interface ApprovalMail {
  kind: (typeof APPROVAL_MAILS)[number];
  partnerId: string;
  userId: string;
}

const MAX_NAME = 100;
const USERS = 'select user_id as "userId" from partner_users where partner_id = $1';
const ADMINISTRATORS = 'select user_id as "userId" from system_users';

/** Queues the mails to the administrators and to the person who registered. Needs the platform's role. */
export async function awaitApproval(ctx: Context, partnerId: string): Promise<void> {
  const { rows } = await ctx.sql<{ userId: string }>(ADMINISTRATORS);
  for (const { userId } of rows) queue(ctx, { kind: 'waiting', partnerId, userId });
  await tellPartner(ctx, partnerId, 'received');
}

/** Mails the decision when a status stops being `pending`. Needs the platform's role. */
export async function tellDecision(ctx: Context, partnerId: string, from: string, to: string): Promise<void> {
  if (from !== 'pending' || to === 'pending') return;
  await tellPartner(ctx, partnerId, to === 'active' ? 'approved' : 'refused');
}

async function tellPartner(ctx: Context, partnerId: string, kind: ToPartner): Promise<void> {
  const { rows } = await ctx.sql<{ userId: string }>(USERS, [partnerId]);
  for (const { userId } of rows) queue(ctx, { kind, partnerId, userId });
}

const queue = (ctx: Context, mail: ApprovalMail): void =>
  void ctx.addJob('tenancy/send-approval-mail', mail, { orgId: null });

/** Ends quietly when the user or the partner no longer exists. */
export async function sendApprovalMail(ctx: Context, { kind, partnerId, userId }: ApprovalMail): Promise<void> {
  const { email, partner } = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{ email: string; partner: string }>(
      `select u.email, p.name as partner from users u, partners p
       where u.id = $1 and u.status = 'active' and p.id = $2 and p.deleted_at is null`,
      [userId, partnerId],
    );
    return rows[0] ?? { email: null, partner: '' };
  });
  if (!email) return;
  const [subject, sentence] = kind === 'waiting' ? waiting(ctx, partnerId, partner) : TO_PARTNER[kind];
  await ctx.services.mail.send({
    to: email,
    subject: `Quartermaster: ${subject}`,
    text: `Hello,\n\n${sentence}\n`,
  });
}

function waiting(ctx: Context, partnerId: string, name: string): [subject: string, sentence: string] {
  const path = `${ctx.services.config.http.publicUrl}/api/v1/orgs/partners/${partnerId}`;
  return [
    'a partner waits for approval',
    `a partner registered and waits for your approval: "${cutText(oneLine(name), MAX_NAME)}".\n\nApprove it with PATCH ${path} and {"status":"active"}, refuse it with {"status":"churned"}.`,
  ];
}
