/** What the tests of access reviews share: calls by name, and roles with chosen permissions. */
import { randomUUID } from 'node:crypto';
import type { ErrorBody, PlatformClient } from '#test';

export interface Item {
  id: string;
  userId: string;
  userName: string;
  userEmail: string;
  lastActiveAt: string | null;
  roleId: string;
  roleName: string;
  decision: string;
  notes: string | null;
  reviewedAt: string | null;
  permissions: string[];
}
export interface Review {
  id: string;
  name: string;
  status: string;
  reviewerId: string;
  reviewerName: string;
  itemCount: number;
  items: Item[];
  completedAt: string | null;
  revokedCount: number;
}
type Answer<B> = B & ErrorBody;
interface Caller {
  token?: string;
  apiKey?: string;
}

export const reviewsOf = (platform: PlatformClient) => {
  const call = <B>(who: Caller, method: string, path: string, body?: object) =>
    platform.call<Answer<B>>(method, `/access-reviews${path}`, {
      ...(who.token ? { token: who.token } : {}),
      ...(who.apiKey ? { apiKey: who.apiKey } : {}),
      ...(body ? { body } : {}),
    });
  return {
    call,
    list: (who: Caller, query = '') => call<{ data: Review[] }>(who, 'GET', query),
    begin: (who: Caller, body: object = {}) => call<Review>(who, 'POST', '', { name: 'Quarterly', ...body }),
    read: (who: Caller, id: string) => call<Review>(who, 'GET', `/${id}`),
    decide: (who: Caller, id: string, itemId: string, body: object) =>
      call<Item>(who, 'PATCH', `/${id}/items/${itemId}`, body),
    complete: (who: Caller, id: string) => call<Review>(who, 'POST', `/${id}/complete`),
    /** A review in which everybody is decided about: revoked for these users, approved for the others. */
    async decided(who: Caller, revoked: string[]): Promise<Review> {
      const { body } = await this.begin(who);
      const { body: review } = await this.read(who, body.id);
      for (const item of review.items) {
        const decision = revoked.includes(item.userId) ? 'revoked' : 'approved';
        const { status } = await this.decide(who, review.id, item.id, { decision });
        if (status !== 200) throw new Error(`the decision was refused: ${status}`);
      }
      return review;
    },
  };
};

/** A role of an organization or a partner with these pairs, `parentId` above it. */
export async function role(
  platform: PlatformClient,
  owner: { orgId?: string; partnerId?: string },
  pairs: string[],
  parentId: string | null = null,
): Promise<string> {
  const [made] = await platform.sql<{ id: string }>(
    'insert into roles (org_id, partner_id, scope, name, parent_role_id) values ($1, $2, $3, $4, $5) returning id',
    [
      ...[owner.orgId ?? null, owner.partnerId ?? null, owner.orgId ? 'organization' : 'partner'],
      ...[`Role ${randomUUID()}`, parentId],
    ],
  );
  await platform.sql(
    `insert into role_permissions (role_id, permission_id)
     select $1, id from permissions where resource || ':' || action = any($2)`,
    [made?.id, pairs],
  );
  return made?.id ?? '';
}

/** Who belongs to the organization, in no order. */
export const memberIds = async (platform: PlatformClient, orgId: string): Promise<string[]> =>
  (await platform.sql<{ id: string }>('select user_id as id from organization_users where org_id = $1', [orgId])).map(
    ({ id }) => id,
  );
