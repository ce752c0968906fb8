/** What a module tells of its own operations for the tests that hold for every module: the default export of its test/example.ts. */
import { randomUUID } from 'node:crypto';
import { enrollAgent, enrollmentKey } from './fake-agent.ts';
import type { CallOptions } from './http.ts';
import type { PlatformClient, TestPlatform } from './platform.ts';
import type { Person, Tenant } from './tenants.ts';

/** Where an example is carried out. */
export interface ExampleContext {
  platform: TestPlatform;
  /** Has what `make` of every module made. */
  tenant: Tenant;
  /** A user of the system scope. */
  admin: Person;
  /** Makes something at its first use; later uses get the same. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** One platform for each set of variables, stopped at the end. */
  platformWith(env: Record<string, string>): Promise<TestPlatform>;
  /** Runs when everything is over, the last first. */
  onEnd(stop: () => Promise<unknown>): void;
}

/** A complete request that succeeds. */
export interface ExampleCall extends CallOptions {
  /** Below /api/v1, with its query. */
  path: string;
  /** Where it goes, when not to the platform of the context. */
  platform?: PlatformClient;
}

/** A test that covers what the general tests cannot. */
export interface NamedTest {
  why: string;
  /** Relative to the module's test folder. */
  test: string;
}

/** How a row of a list that can be followed comes, changes and goes, past the API. */
export interface RowLife {
  make(sql: Sql, tenant: Tenant, id: string): Promise<unknown>;
  touch(sql: Sql, id: string): Promise<unknown>;
  remove(sql: Sql, id: string): Promise<unknown>;
}
type Sql = (text: string, values?: unknown[]) => Promise<unknown>;

/** Keys are operations of the module (`POST /webhooks`) unless said otherwise; everything may be left out. */
export interface Example {
  /** Makes one of each object of the module for a tenant. */
  make?(platform: TestPlatform, tenant: Tenant): Promise<unknown>;
  /** Bodies with rules that the schema does not express; others are derived from the schema. */
  bodies?: Record<string, (context: ExampleContext) => object | Promise<object>>;
  /** Prepares what an operation needs before it can succeed; may return the paths to call. */
  before?: Record<string, (context: ExampleContext) => Promise<string[] | undefined>>;
  /** Complete requests, where a body and a path are not enough. */
  calls?: Record<string, (context: ExampleContext) => Promise<ExampleCall>>;
  /** The same for requests to a platform with variables of its own. */
  callsElsewhere?: Record<string, (context: ExampleContext) => Promise<ExampleCall>>;
  /** Writes whose audit entry a test of the module checks. */
  testedIn?: Record<string, NamedTest>;
  /** Operations that no example can be recorded of. */
  unrecorded?: Record<string, NamedTest>;
  /** When an operation ends what the examples of others need: 0 unless said, removals 1, the highest last. */
  turns?: Record<string, number>;
  /** Paths of objects that no table of a tenant holds. Keys are paths. */
  paths?: Record<string, (context: Pick<ExampleContext, 'platform'>) => string | Promise<string>>;
  /** Paths whose objects belong to no tenant, or cannot be made in advance, and why. Keys are paths up to the last parameter. */
  withoutObject?: Record<string, string>;
  /** Further ids that paths of the module may take, with the table that holds them. */
  ids?(context: Pick<ExampleContext, 'platform' | 'tenant'>): Promise<{ id: string; table: string }[]>;
  /** GETs that answer with another status than 200 on a platform that has nothing but the examples. */
  statuses?: Record<string, number>;
  /** GETs whose answer does not depend on the sites that a person is limited to, and why. Keys are the beginnings of paths. */
  notBySite?: Record<string, string>;
  /** Writes to rows of the whole organization that also people limited to sites or groups may make, and why. */
  forWholeOrg?: Record<string, string>;
  /** Operations that answer 400 to people who may not see the object, and why. */
  refusedWith400?: Record<string, string>;
  /** Why operations refuse API keys. */
  peopleOnly?: [operations: RegExp, why: string][];
  /** Tables that also a refused request may write. */
  writtenByAnyone?: string[];
  /** Lists that can be followed. Keys are paths. */
  changes?: Record<string, RowLife>;
}

/** Eight characters that the recordings of examples recognize: letters and digits are both among them. */
export const shortName = (): string => `e7${randomUUID().slice(0, 6)}`;
/** A name that no other has. @param word `Name` or `Reason`: the API document shows a plain one in its place */
export const uniqueName = (word: 'Name' | 'Reason' = 'Name'): string => `${word} ${shortName()}`;

/** The id of an enrolled device of the tenant that examples may use; it is in no static group. */
export const exampleDevice = ({ platform, tenant, once }: ExampleContext): Promise<string> =>
  once('device', async () => {
    const key = await enrollmentKey(platform, tenant);
    return (await enrollAgent(platform, { key, hostname: 'WS-0141' })).deviceId;
  });
