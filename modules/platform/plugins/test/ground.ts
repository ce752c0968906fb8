/** The ground of these tests: a platform that runs plugins, and tenants that have some. */
import { setTimeout as pause } from 'node:timers/promises';
import { runUnitOfWork } from '#core/work';
import type { Manifest } from '#plugin-sdk/host';
import {
  type Called,
  emitNamed,
  organization,
  orgUser,
  type Person,
  startTestPlatform,
  systemUser,
  type Tenant,
  type TestPlatform,
  tenant,
} from '#test';
import { type Context, EVERYWHERE, NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';
import { HOST, type PluginHost } from '../services/running/host.ts';
import { pack } from './packages.ts';

export interface Shown {
  id: string;
  status: string;
  enabled: boolean;
  health: string;
  errorMessage: string | null;
  version: string;
  config: Record<string, unknown>;
  grantedPermissions: string[];
  pendingPermissions: string[];
  [key: string]: unknown;
}
export interface Line {
  level: string;
  message: string;
  fields: Record<string, unknown> | null;
  hook: string | null;
}
export type Refused = { error: { code: string; message: string; details: Record<string, unknown>[] } };
export const codeOf = (called: Called<unknown>) => (called.body as Partial<Refused>).error?.code;

export interface Ground {
  platform: TestPlatform;
  admin: Person;
  host: PluginHost;
  register(given: Partial<Manifest>, source: string, files?: Record<string, string>): Promise<Manifest>;
  upload(
    content: Buffer,
    token?: string,
    headers?: Record<string, string>,
    query?: string,
  ): Promise<{ status: number; body: unknown }>;
  /** The owners of entries of the trail about an installation. */
  ownersOf(action: string, id: string): Promise<string[]>;
  /** Work in the platform's role, as platform jobs do it. */
  asPlatform<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
  /** Lets the job of each minute run. */
  tick(): Promise<void>;
  stop(): Promise<void>;
}

/** @param work false where only requests are tested */
export async function openGround(env: Record<string, string> = {}, work = true): Promise<Ground> {
  const platform = await startTestPlatform({
    PLUGINS_ALLOW_UNSIGNED: 'true',
    ...env,
  });
  const admin = await systemUser(platform);
  const stop = work ? await platform.platform.tasks.startBackground() : async () => undefined;
  const upload: Ground['upload'] = async (content, token = admin.token, headers = {}, query = '') => {
    const answer = await fetch(`${platform.url}/api/v1/plugins/catalog${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip', ...headers },
      body: new Uint8Array(content),
    });
    return { status: answer.status, body: await answer.json() };
  };
  return {
    platform,
    admin,
    host: platform.platform.tasks.work.services.get(HOST),
    upload,
    async register(given, source, files) {
      const packed = await pack(given, source, files);
      const { status, body } = await upload(packed.content);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return packed.manifest;
    },
    asPlatform: (run) => {
      const { work, log } = platform.platform.tasks;
      return runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);
    },
    async ownersOf(action, id) {
      await platform.audits();
      const rows = await platform.sql<{ owner: string }>(
        'select owner from audit_logs where action = $1 and resource_id = $2 order by timestamp',
        [action, id],
      );
      return rows.map(({ owner }) => owner);
    },
    async tick() {
      for (const job of ['schedules/hand-out-due', 'plugins/run-tick'])
        await platform.sql(
          `select graphile_worker.add_job($1, json_build_object('data', '{}'::json, 'orgId', null, 'requestId', 'test'))`,
          [job],
        );
      await platform.runJobs();
    },
    async stop() {
      await stop();
      await platform.stop();
    },
  };
}

/** Another organization of the same partner. */
export async function openSibling(ground: Ground, at: Tenant) {
  const made = await organization(ground.platform, at.partnerId);
  const orgAdmin = await orgUser(ground.platform, made);
  return openTenant(ground, { ...at, ...made, orgAdmin });
}

/** A tenant with what these tests do again and again. */
export async function openTenant(ground: Ground, known?: Tenant) {
  const { platform } = ground;
  const at: Tenant = known ?? (await tenant(platform));
  const call = <B = { data: Shown }>(method: string, path: string, body?: unknown, person: Person = at.orgAdmin) =>
    platform.call<B>(method, path, { token: person.token, ...(body === undefined ? {} : { body }) });
  const place = (id: string) => `/plugins/installations/${id}`;
  return {
    ...at,
    call,
    install: ({ slug, permissions = [] }: Manifest, more: object = {}, person: Person = at.orgAdmin) =>
      call(
        'POST',
        '/plugins/installations',
        { slug, grantPermissions: permissions.map(({ name }) => name), ...more },
        person,
      ),
    read: async (id: string) => (await call('GET', place(id))).body.data,
    /** Installed and enabled; throws what went wrong. */
    async run(manifest: Manifest, more: object = {}, person: Person = at.orgAdmin): Promise<Shown> {
      const made = await this.install(manifest, more, person);
      if (made.status !== 202) throw new Error(`${made.status} ${JSON.stringify(made.body)}`);
      await platform.runJobs();
      const { id } = made.body.data;
      const enabled = await call('POST', `${place(id)}/enable`, undefined, person);
      if (enabled.status === 200) return enabled.body.data;
      throw new Error(`${enabled.status} ${JSON.stringify(enabled.body)} ${JSON.stringify(await this.read(id))}`);
    },
    async device(hostname: string): Promise<string> {
      const [row] = await platform.sql<{ id: string }>(
        `with made as (
           insert into devices (org_id, site_id, hostname, os_type, lifecycle) values ($1, $2, $3, 'linux', 'active') returning id),
         state as (insert into device_state (device_id, org_id) select id, $1 from made)
         select id from made`,
        [at.orgId, at.siteId, hostname],
      );
      return row?.id ?? '';
    },
    invoke: (id: string, action: string, body: object = {}) =>
      call<{ result: unknown } & Partial<Refused>>('POST', `${place(id)}/invoke/${action}`, body),
    async logs(id: string, query = ''): Promise<Line[]> {
      await ground.host.logs.flush();
      return (await call<{ data: Line[] }>('GET', `${place(id)}/logs?limit=100${query}`)).body.data;
    },
    async kv(slug: string): Promise<Record<string, unknown>> {
      const rows = await platform.sql<{ key: string; value: unknown }>(
        'select key, value from plugin_kv where org_id = $1 and slug = $2 order by key',
        [at.orgId, slug],
      );
      return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
    },
    async emit(name: string, data: object, about: object = {}): Promise<void> {
      const { work, log } = platform.platform.tasks;
      const scope = organizationScope(at.orgId, at.partnerId);
      await runUnitOfWork(work, { actor: NOBODY, scope, requestId: 'test', log, role: 'app' }, async (ctx) => {
        emitNamed(ctx, name, data, about);
      });
    },
  };
}
export type At = Awaited<ReturnType<typeof openTenant>>;

/** Waits for a condition; says what it was when it does not come. */
export async function until<T>(what: string, look: () => T | Promise<T>, seconds = 90): Promise<NonNullable<T>> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen) return seen as NonNullable<T>;
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain: ${what}`);
    await pause(25);
  }
}

/** Lets what waits for a later attempt be due now. */
export const hurry = (ground: Ground, id: string) =>
  ground.platform.sql('update plugin_queue set due_at = now() where installation_id = $1 and lease is null', [id]);
