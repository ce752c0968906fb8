/** One request for each GET of the API that finds something, for proofs that strangers' tools can make them. */
import type { AnyRoute } from '../../../core/contract/index.ts';
import { answers, bench, task } from '../../../modules/devices/system-tools/test/arrange.ts';
import { type Arrangement, arrange, realPaths } from './arranged.ts';

export interface Read {
  /** The path as the document has it. */
  template: string;
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  /** What a plain request was answered with. */
  status: number;
}
export interface Reads extends Arrangement {
  reads: Read[];
  close(): Promise<void>;
}

/** The values of a template's parameters in a path that was made from it. */
function named(template: string, path: string): Record<string, string> {
  const values = path.split('/');
  return Object.fromEntries(
    template.split('/').flatMap((part, index) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      return name ? [[name, decodeURIComponent(values[index] ?? '')]] : [];
    }),
  );
}

/** What the required fields of a query want. */
async function queriesFor({ platform, victim }: Arrangement): Promise<Record<string, Record<string, string>>> {
  const { token } = victim.orgAdmin;
  const rows = async (path: string) => (await platform.call<Record<string, unknown>>('GET', path, { token })).body;
  const { entries } = (await rows('/audit-logs?limit=50')) as { entries: { id: string }[] };
  const { data } = (await rows('/audit-logs/checkpoints')) as { data: { id: string }[] };
  const checkpoint = data.at(-1)?.id ?? '';
  const search = { q: 'a' };
  const machine = { platform: 'linux', arch: 'x64' };
  const hive = { hive: 'HKEY_LOCAL_MACHINE' };
  const tools = '/system-tools/devices/{deviceId}';
  return {
    '/agent-versions/latest': machine,
    '/agent-versions/{version}/download': machine,
    '/audit-logs/proofs/consistency': { from: checkpoint, to: checkpoint },
    '/audit-logs/proofs/inclusion': { entryId: entries.at(-1)?.id ?? '' },
    '/audit-logs/search': search,
    '/audit/search': search,
    '/search': search,
    '/tags/devices': { tag: 'a' },
    [`${tools}/files/download`]: { path: '/tmp/file' },
    [`${tools}/registry/keys`]: hive,
    [`${tools}/registry/value`]: { ...hive, name: 'A' },
    [`${tools}/registry/values`]: hive,
  };
}

/** Whose token opens a route: the narrowest scope that may call it. */
function callerFor({ victim, admin }: Arrangement, { access }: AnyRoute): string {
  const scopes = 'permission' in access ? access.scopes : undefined;
  if (!scopes || scopes.includes('organization')) return victim.orgAdmin.token;
  return scopes.includes('partner') ? victim.partner.token : admin.token;
}

export async function arrangeReads(): Promise<Reads> {
  const arranged = await arrange();
  const { platform, victim, admin, tags } = arranged;
  const { agent, live } = await bench(platform, answers, { at: victim });
  const real = await realPaths(arranged, (route) => callerFor(arranged, route));
  const queries = await queriesFor(arranged);
  const [command] = await platform.sql<{ id: string; device_id: string }>(
    'select id, device_id from device_commands where org_id = $1 limit 1',
    [victim.orgId],
  );
  const [plugin] = await platform.sql<{ slug: string }>('select slug from plugin_catalog limit 1');
  const parts: [RegExp, Record<string, string>][] = [
    [/^\/system-tools/, { deviceId: agent.deviceId, pid: '42', recordId: '77', path: task.path }],
    [/^\/system-tools.*\/services/, { name: 'Spooler' }],
    [/^\/system-tools.*\/eventlogs/, { name: 'System' }],
    [/^\/agents\/\{id\}/, { id: agent.agentId }],
    [/^\/agents\/download/, { os: 'linux', arch: 'x64' }],
    [/^\/devices\/.*\{commandId\}/, { id: command?.device_id ?? '', commandId: command?.id ?? '' }],
    [/^\/plugins\/catalog/, { slug: plugin?.slug ?? '' }],
    [/^\/modules\/\{key\}/, { key: 'webhooks' }],
    [/\{version\}/, { version: '1.0.0' }],
    [/^\/sso\/(login|check)/, { orgId: victim.orgId }],
  ];
  const reads: Read[] = [];
  for (const { route } of tags.filter((tag) => tag.route.method === 'GET')) {
    const template = route.path;
    const path = named(template, real(route));
    for (const [pattern, values] of parts) {
      if (!pattern.test(template)) continue;
      for (const name of Object.keys(path)) path[name] = values[name] ?? path[name] ?? '';
    }
    const query = queries[template] ?? {};
    const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '';
    const url = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? '')) + search;
    const callers =
      'agent' in route.access
        ? [agent.token]
        : 'open' in route.access
          ? ['']
          : [callerFor(arranged, route), victim.partner.token, admin.token];
    let read: Read | undefined;
    for (const token of callers) {
      const { status } = await platform.call('GET', url, token ? { token } : {});
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      if (!read || status < 300) read = { template, path, query, headers, status };
      if (status < 300) break;
    }
    if (read) reads.push(read);
  }
  return {
    ...arranged,
    reads,
    close: async () => {
      await live.close();
      await platform.stop();
    },
  };
}
