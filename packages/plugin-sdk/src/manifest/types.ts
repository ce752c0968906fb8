/** The manifest, `plugin.json`: what a plugin is, what it wants to do, and what it offers. */
import type { CapabilityName } from '../capabilities.ts';
import type { EgressRule } from '../egress.ts';

export type PluginType = 'integration' | 'automation' | 'reporting' | 'collector' | 'notification' | 'ui';
export type ProviderKind = 'notificationChannel' | 'psaAdapter' | 'reportType' | 'collector' | 'aiTool';
export type Scalar = string | number | boolean;

/** One value of a form: a scalar, one of a list, or a list of scalars. */
export interface FormField {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  title?: string;
  description?: string;
  default?: Scalar | Scalar[] | null;
  enum?: Scalar[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  format?: 'uri' | 'email' | 'hostname' | 'ipv4' | 'ipv6' | 'uuid' | 'date' | 'date-time';
  items?: { type: 'string' | 'number' | 'integer' | 'boolean'; enum?: Scalar[]; maxLength?: number };
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  /** Sealed when stored, never shown; handed to the plugin only with `secrets:config`. */
  'x-secret'?: boolean;
  'x-label'?: string;
  'x-help'?: string;
  'x-order'?: number;
  /** Shown only while another field has this value. */
  'x-visibleWhen'?: { field: string; equals: Scalar };
}
/** A form as JSON Schema; also what is validated. Patterns are left out: they would run on the host. */
export interface FormSchema {
  type: 'object';
  properties: Record<string, FormField>;
  required?: string[];
  additionalProperties?: false;
}

export interface HookDeclaration {
  event: string;
  handler: string;
  /** Paths into the event, such as `data.severity`, and the value or values of which one is wanted. All must hold. */
  filter?: Record<string, Scalar | Scalar[]>;
  timeoutMs?: number;
}
export interface ScheduleDeclaration {
  name: string;
  /** Five fields, UTC; not more often than every five minutes. */
  cron: string;
  handler: string;
}
export interface ActionDeclaration {
  name: string;
  label: string;
  description?: string;
  target: 'device' | 'alert' | 'org';
  inputSchema?: FormSchema;
  /** What a user needs to start it, beside seeing the target. */
  permission: string;
  /** The handler; the action's own name when absent. */
  handler?: string;
}
export interface ProviderDeclaration {
  kind: ProviderKind;
  key: string;
  label: string;
  description?: string;
  /** The handler of each operation of the kind (`PROVIDER_OPERATIONS`). */
  handlers: Record<string, string>;
  /** `collector`: when it runs. */
  cron?: string;
  /** `collector`: the custom fields that it writes. */
  fields?: string[];
  /** `aiTool`, `reportType`: what it takes. `notificationChannel`: what each channel may set, without secrets. */
  inputSchema?: FormSchema;
  /** `aiTool`: it changes things, so a person must agree. */
  destructive?: boolean;
}
export interface ConfigMigration {
  /** The versions from which it leads. */
  from: string;
  handler: string;
}

export interface Manifest {
  manifestVersion: 1;
  slug: string;
  name: string;
  version: string;
  description: string;
  author: string;
  license: string;
  type: PluginType;
  category?: string;
  tags?: string[];
  homepageUrl?: string;
  documentationUrl?: string;
  iconUrl?: string;
  /** `runtime`: what runs its code, the interpreter unless it says `node`. */
  engine: { api: string; agent?: string; runtime?: 'interpreter' | 'node' };
  main: string;
  permissions?: { name: CapabilityName; reason: string }[];
  egress?: EgressRule[];
  configSchema?: FormSchema;
  hooks?: HookDeclaration[];
  schedules?: ScheduleDeclaration[];
  actions?: ActionDeclaration[];
  providers?: ProviderDeclaration[];
  migrations?: ConfigMigration[];
  dependencies?: { slug: string; range: string }[];
}

/** What each kind of provider must be able to do, and what it may. */
export const PROVIDER_OPERATIONS: Record<ProviderKind, { required: string[]; optional: string[] }> = {
  notificationChannel: { required: ['send'], optional: ['test'] },
  psaAdapter: { required: ['test', 'createTicket', 'updateTicket'], optional: ['getTicket', 'listCompanies'] },
  reportType: { required: ['build'], optional: [] },
  collector: { required: ['collect'], optional: [] },
  aiTool: { required: ['run'], optional: [] },
};
/** What offering a provider takes. */
export const PROVIDER_CAPABILITY: Record<ProviderKind, CapabilityName | null> = {
  notificationChannel: null,
  psaAdapter: 'tickets:write',
  reportType: 'reports:register',
  collector: 'customFields:write',
  aiTool: null,
};
