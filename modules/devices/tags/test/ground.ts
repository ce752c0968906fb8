/** A platform with tenants whose devices have tags, and the calls that the tests share. */
import test from 'ava';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { enroll } from '../../devices/test/arrange.ts';

export const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface Tag {
  id: string;
  name: string;
  tag: string;
  deviceCount: number;
  orgIds?: string[];
}
export const call = <B>(method: string, path: string, token: string, body?: unknown) =>
  platform.call<B & ErrorBody>(method, path, { token, ...(body === undefined ? {} : { body }) });
export const tags = async (token: string, query = '') =>
  (
    await call<{ data: Tag[]; total: number; pagination: { total: number; cursor: string } }>(
      'GET',
      `/tags${query}`,
      token,
    )
  ).body;
export const counts = async (token: string, query = '') =>
  (await tags(token, query)).data.map(({ tag, deviceCount }) => `${tag} ${deviceCount}`);
export const hosts = async (token: string, query: string) =>
  (await call<{ data: { hostname: string }[] }>('GET', `/tags/devices?${query}`, token)).body.data.map(
    ({ hostname }) => hostname,
  );
export const patch = (token: string, id: string, given: string[]) =>
  call<{ data: { tags: string[] } }>('PATCH', `/devices/${id}`, token, { tags: given });
export const stored = async (id: string) =>
  (await platform.sql<{ tags: string[] }>('select tags from devices where id = $1', [id]))[0]?.tags;

/** A tenant with devices that have these tags. */
export async function place(devices: Record<string, string[]>) {
  const made = await tenant(platform);
  const { token } = made.orgAdmin;
  const ids: Record<string, string> = {};
  for (const [hostname, given] of Object.entries(devices)) {
    const { deviceId } = await enroll(platform, made, { hostname });
    ids[hostname] = deviceId;
    if (given.length > 0) await patch(token, deviceId, given);
  }
  return { ...made, token, id: (name: string) => ids[name] ?? '' };
}
