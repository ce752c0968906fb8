/** What an agent on this machine reports, as the API of a whole platform shows it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import type { Connection, Patch, ProcessSample } from '#agent-protocol';
import { enrollmentKey, sharedPlatform, tenant, until } from '#test';
import { collectPatches } from '../src/collect/patches.ts';
import { temporaryFolder } from './harness.ts';

const PROGRAM = join(import.meta.dirname, '../src/main.ts');
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

interface Reported<B> {
  data: { parts: { source: string | null; takenAt: string; body: B }[] };
}

test('what an agent finds on this machine is shown with its device', async (t) => {
  const folder = await temporaryFolder(t);
  const state = join(folder, 'state.json');
  const start = (...args: string[]) => {
    const child = spawn(process.execPath, [PROGRAM, ...args, '--state', state], { cwd: folder, stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    return child;
  };
  const listener = createServer();
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => listener.close());
  const { port } = listener.address() as { port: number };
  const at = await tenant(platform);
  const key = await enrollmentKey(platform, at);
  t.is((await once(start('enroll', '--server', platform.url, '--key', key), 'close'))[0], 0);
  const { token } = at.partner;
  for (const [fieldKey, editableBy] of [
    ['bios', 'script'],
    ['owner', 'user'],
  ]) {
    const field = { orgId: at.orgId, name: fieldKey, fieldKey, type: 'text', editableBy };
    t.is((await platform.call('POST', '/custom-fields', { token, body: field })).status, 201);
  }
  await mkdir(join(folder, 'state-custom-fields'));
  await writeFile(join(folder, 'state-custom-fields', 'bios'), 'F.21\n');
  await writeFile(join(folder, 'state-custom-fields', 'owner'), 'me');
  const agent = start('run', '--interval', '1');
  const [device] = await platform.sql<{ id: string }>('select id from devices where org_id = $1', [at.orgId]);
  const reported = <B>(kind: string) =>
    until(async () => {
      const path = `/devices/${device?.id}/reports?kind=${kind}`;
      const { status, body } = await platform.call<Reported<B>>('GET', path, { token: at.orgAdmin.token });
      return status === 200 && body.data.parts[0]?.body;
    });

  const { connections } = await reported<{ connections: Connection[] }>('connections');
  t.like(
    connections.find(({ localPort, state: word }) => localPort === port && word === 'listen'),
    { protocol: 'tcp', localAddress: '127.0.0.1', pid: process.pid },
  );
  const { processes } = await reported<{ processes: ProcessSample[] }>('processes');
  const own = processes.find(({ pid }) => pid === agent.pid);
  t.truthy(own?.name);
  t.true(Number(own?.memoryMb) > 1);
  t.false(JSON.stringify(processes).includes('commandLine'));

  // What waits and what was installed comes from this machine's package manager, where it has one that the agent knows.
  const here = await collectPatches();
  if (here) {
    const { installed } = await reported<{ installed: Patch[] }>('patches');
    t.deepEqual(
      installed.map(({ externalId }) => externalId).sort(),
      here.installed.map((one) => one.externalId).sort(),
    );
    for (const one of installed) t.regex(one.installedAt ?? '', /^20/);
  }

  const fields = await until(async () => {
    type Detail = { data: { customFields: Record<string, unknown> } };
    const { body } = await platform.call<Detail>('GET', `/devices/${device?.id}`, { token: at.orgAdmin.token });
    return body.data.customFields.bios !== undefined && body.data.customFields;
  });
  t.deepEqual(fields, { bios: 'F.21' }, 'a field that scripts may not write stays as it is');

  agent.kill('SIGTERM');
  await once(agent, 'close');
});
