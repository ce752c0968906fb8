/** What a module package may declare: the types that the compiler checks in the repository, and names of its own. */
import Joi from 'joi';
import type { Module } from '../contract/index.ts';
import { LoadError } from './files.ts';
import type { LoadedModule } from './read-module.ts';

const text = Joi.string().required();
const names = Joi.array().items(Joi.string());
const method = Joi.function();

const manifest = Joi.object<Module>({
  name: text,
  title: text,
  summary: text,
  requires: names.required(),
  permissions: names,
  audits: names,
  core: Joi.boolean().valid(false).messages({ 'any.only': 'core is for modules of the server itself' }),
  default: Joi.string().valid('on', 'off'),
  group: Joi.string(),
  levels: Joi.array().items(Joi.string().valid('instance', 'partner', 'organization')),
  agentFeatures: names,
  commands: names,
  objects: Joi.object().pattern(Joi.string(), Joi.string()),
  settings: Joi.object().schema('object'),
  variables: Joi.object(),
  schemas: Joi.object(),
  deliveries: Joi.array(),
  requiresConfig: method,
  liveSessions: method,
  onEnable: method,
  onDisable: method,
  api: Joi.object(),
  start: method,
  work: method,
});
const routes = Joi.array().items(
  Joi.object({ method: text, path: text, access: Joi.object().required(), handler: method.required() }).unknown(),
);
const job = Joi.object({
  name: text,
  summary: text,
  scope: Joi.string().valid('tenant', 'platform').required(),
  payload: Joi.object().schema('object').required(),
  maxAttempts: Joi.number().integer().min(1).required(),
  run: method.required(),
}).unknown();
const event = Joi.object({
  summary: text,
  data: Joi.object().schema('object').required(),
  example: Joi.object().required(),
}).unknown();
const subscriber = Joi.object({ on: [Joi.string(), event], summary: text, run: method.required() }).unknown();
const slot = Joi.object({ summary: text, name: Joi.string(), steady: Joi.boolean() }).unknown();
const contribution = Joi.object({ slot: text, value: Joi.any().required() }).unknown();

function mustFit(schema: Joi.Schema, value: unknown, file: string): void {
  // Values stay as they are: a copy of a schema or a class instance would not be the thing itself.
  const { error } = schema.validate(value, { convert: false, errors: { wrap: { label: false } } });
  if (error) throw new LoadError(`${file}: ${error.message}`);
}

/** Throws LoadError for the first thing that is not as the contract has it. */
export function checkShape({
  module,
  folder,
  jobs,
  subscribers,
  contributions,
  events,
  slots,
  routes: found,
}: LoadedModule): void {
  mustFit(manifest, module, folder);
  for (const { file, value } of found) mustFit(routes, [value], file);
  for (const { file, value } of jobs) mustFit(job, value, file);
  for (const { file, definition } of slots) mustFit(slot, definition, file);
  for (const { file, definition } of events) mustFit(event, definition, file);
  for (const { file, value } of subscribers) mustFit(subscriber, value, file);
  for (const { file, value } of contributions) mustFit(contribution, value, file);
}

/** Throws LoadError for the first name that another module could have. */
export function checkNames({
  module,
  folder,
  routes: found,
  contributions,
  slots,
  package: place,
}: LoadedModule): void {
  const { name } = module;
  const tables = `${place?.prefix.replaceAll('-', '_')}_`;
  const must = (ok: boolean, where: string, sentence: string) => {
    if (!ok) throw new LoadError(`${where}: ${sentence}`);
  };
  const under = (path: unknown) => path === `/${name}` || String(path).startsWith(`/${name}/`);
  for (const { file, value } of found) {
    must(under(value.path), file, `the path ${value.path} does not lie below /${name}`);
  }
  const stray = module.audits.find((one) => !one.startsWith(`${name}.`));
  must(stray === undefined, folder, `${stray}, one of its audits, does not begin with ${name}.`);
  for (const { name: slot, file } of slots)
    must(slot.startsWith(`${name}.`), file, `the slot ${slot} does not begin with ${name}.`);
  const table = Object.values(module.objects ?? {}).find((one) => !one.startsWith(tables));
  must(table === undefined, folder, `${table}, one of its objects, does not begin with ${tables}`);
  const command = module.commands?.find((one) => !one.startsWith(tables));
  must(command === undefined, folder, `${command}, one of its commands, does not begin with ${tables}`);
  for (const { file, value } of contributions) {
    must(value.slot !== 'auth.agent', file, 'who an agent is, is not for packages to say');
    if (value.slot !== 'http.socket') continue;
    const { path } = value.value as { path?: unknown };
    must(under(path), file, `the path ${path} does not lie below /${name}`);
  }
}
