/** A dynamic group of over 10,000 devices: how soon it follows a change of one of them, and what those limited to it wait for. */
import { orgUser } from '#test';
import { makeFleet } from '../fleet.ts';
import { type Ground, openBench } from '../ground.ts';
import { request } from '../request.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

/** Below 20,000 devices an organization, so that the request itself evaluates. */
const SIZE = { devices: 100_000, organizations: 6, software: 0, seed: 42 };
const CHANGES = 40;
const LEAST = 10_000;

export const scenario: Scenario = {
  title: `a dynamic group of over ${LEAST} devices among ${SIZE.devices}, ms until it has followed the change of one device`,
  async run({ seconds, server }) {
    const ground = await openBench(seconds, server);
    try {
      const fleet = await makeFleet(ground, SIZE);
      const [orgId = ''] = fleet.orgIds;
      // Jobs run beside the API, as in the smallest installation.
      const { base } = await ground.startApi({ ROLE: 'all' });
      const headers = { authorization: `Bearer ${fleet.partner.token}`, 'content-type': 'application/json' };
      const made = performance.now();
      const group = await makeGroup(base, headers, orgId);
      const took = performance.now() - made;
      const follows = await following(ground, base, headers, group.id);
      const limited = await whoIsLimited(ground, base, orgId, group.id);
      return { members: group.deviceCount, 'making it: ms': rounded(took), ...follows, ...limited };
    } finally {
      await ground.close();
    }
  },
};

async function makeGroup(base: string, headers: Record<string, string>, orgId: string) {
  const filter = {
    operator: 'AND',
    conditions: [
      { field: 'osType', operator: 'in', value: ['windows', 'macos'] },
      { field: 'displayName', operator: 'notEquals', value: 'Out' },
    ],
  };
  const body = JSON.stringify({ orgId, name: 'No Linux', type: 'dynamic', filter });
  const answer = await fetch(`${base}/api/v1/groups`, { method: 'POST', headers, body });
  const { data } = (await answer.json()) as { data: { id: string; deviceCount: number } };
  if (answer.status !== 201 || data.deviceCount < LEAST)
    throw new Error(`answered ${answer.status}, ${data.deviceCount} members`);
  return data;
}

/** Devices leave and come back one after another; from before the request until the membership is committed. */
async function following(ground: Ground, base: string, headers: Record<string, string>, groupId: string) {
  const devices = await ground.sql<{ id: string }>(
    'select device_id as id from device_group_members where group_id = $1 order by device_id limit $2',
    [groupId, CHANGES / 2],
  );
  const client = request(base, 1);
  const times: number[] = [];
  const change = async (id: string, displayName: string, wanted: number) => {
    const began = performance.now();
    const status = await client.send('PATCH', `/api/v1/devices/${id}`, headers, JSON.stringify({ displayName }));
    if (status !== 200) throw new Error(`answered ${status}`);
    const standing = () =>
      ground.sql('select from device_group_members where group_id = $1 and device_id = $2', [groupId, id]);
    while ((await standing()).length !== wanted) {
      if (performance.now() - began > 60_000) throw new Error('the group did not follow');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    times.push(performance.now() - began);
  };
  for (const { id } of devices) {
    await change(id, 'Out', 0);
    await change(id, 'In', 1);
  }
  await client.close();
  times.sort((a, b) => a - b);
  return {
    'followed: p50 ms': rounded(times[Math.floor(times.length / 2)] ?? 0),
    'followed: slowest ms': rounded(times.at(-1) ?? 0),
  };
}

/** A person limited to the group lists and searches. */
async function whoIsLimited(ground: Ground, base: string, orgId: string, groupId: string) {
  const { token } = await orgUser(ground, { orgId, deviceGroupIds: [groupId] });
  const client = request(base, 1);
  const figures: Record<string, number> = {};
  for (const [name, path] of Object.entries({
    list: '/devices?limit=100',
    'list with total': '/devices?limit=100&includeTotal=true',
    'search, common beginning': '/search?q=ber',
    'search, common part': '/search?q=lap',
    'search, rare': '/search?q=042424',
  })) {
    const { p50, p99 } = await drive(Math.max(1, ground.seconds / 2), 1, async () => {
      const status = await client.send('GET', `/api/v1${path}`, { authorization: `Bearer ${token}` });
      if (status !== 200) throw new Error(`answered ${status}`);
    });
    figures[`limited to it, ${name}: p50 ms`] = rounded(p50);
    figures[`limited to it, ${name}: p99 ms`] = rounded(p99);
  }
  await client.close();
  return figures;
}
