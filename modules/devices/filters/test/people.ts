/** Devices by name, and the calls that the tests of this module share. */
import { type ErrorBody, startTestPlatform } from '#test';
import { enroll } from '../../devices/test/arrange.ts';

export const platform = await startTestPlatform();

export interface Filter {
  id: string;
  orgId: string;
  name: string;
  description: string | null;
  conditions: object;
  createdBy: string | null;
  createdAt: string;
}
export interface Preview {
  data: { totalCount: number; devices: { id: string; hostname: string }[]; evaluatedAt: string };
}
export const call = <B = Filter & ErrorBody>(method: string, path: string, token: string, body?: unknown) =>
  platform.call<B>(method, `/filters${path}`, { token, ...(body === undefined ? {} : { body }) });

export const all = (...conditions: unknown[]) => ({ operator: 'AND', conditions });
export const any = (...conditions: unknown[]) => ({ operator: 'OR', conditions });
export const where = (field: string, operator: string, value?: unknown) => ({ field, operator, value });

export const previewed = (token: string, conditions: unknown, limit?: number) =>
  call<Preview & ErrorBody>('POST', '/preview', token, { conditions, limit });
/** The names that a preview shows, in its order. */
export const names = async (token: string, conditions: unknown) =>
  (await previewed(token, conditions, 100)).body.data.devices.map((device) => device.hostname);

export async function devices(at: { orgId: string; siteId: string }, ...hostnames: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const hostname of hostnames) ids.push((await enroll(platform, at, { hostname })).deviceId);
  return ids;
}
