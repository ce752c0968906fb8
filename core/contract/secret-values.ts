/** What modules keep that can be read only with a secret of the deployment. */
import type { SecretName } from '../secrets.ts';

export interface SecretValues {
  secret: SecretName;
  /** What operators lose with the secret, and what they do then: `client secrets of single sign-on; enter them again`. */
  title: string;
  /** SQL that counts them as `n`; runs as the owner of the tables, over all tenants. */
  count: string;
  /** SQL that removes them, where users or the server make them anew; without it they stay for people to replace. */
  remove?: string;
}
