/** Checking manifests, configurations and inputs: what the schemas say, and what they cannot say. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import semver from 'semver';
import { API_VERSION } from '../api-version.ts';
import { capabilityForEvent } from '../capabilities.ts';
import { cronFault } from './cron.ts';
import { MANIFEST_SCHEMA } from './schema.ts';
import { type FormSchema, type Manifest, PROVIDER_CAPABILITY, PROVIDER_OPERATIONS } from './types.ts';

export interface Fault {
  /** Dots and indexes: `hooks.0.handler`. */
  path: string;
  message: string;
}

const WORDS = ['x-secret', 'x-label', 'x-help', 'x-order', 'x-visibleWhen'];
/** `strict` would refuse words of other dialects at compile time; the schemas are checked by one of their own. */
function newAjv(options: { validateSchema?: boolean } = {}): Ajv2020 {
  const ajv = new Ajv2020({
    ...options,
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
  });
  ajv.addVocabulary(WORDS);
  // The package is CommonJS: its function lies under `default` for some loaders.
  const addFormats = ((formats as { default?: unknown }).default ?? formats) as (ajv: Ajv2020) => void;
  addFormats(ajv);
  return ajv;
}

let own: Ajv2020 | undefined;
/**
 * Compiles the schemas of this package, when they are first needed: compiling the dialect alone takes a tenth of a second,
 * which a server that runs no plugin need not spend on its start.
 */
const ownAjv = (): Ajv2020 => {
  own ??= newAjv();
  return own;
};

/** A schema's validator, compiled when it is first asked for. */
export function lazily<T = unknown>(schema: object): () => ValidateFunction<T> {
  let known: ValidateFunction<T> | undefined;
  return () => {
    known ??= ownAjv().compile<T>(schema);
    return known;
  };
}

const manifestValidator = lazily(MANIFEST_SCHEMA);
const MOST_FAULTS = 50;

export function faultsOf(errors: ErrorObject[] | null | undefined): Fault[] {
  return (errors ?? []).slice(0, MOST_FAULTS).map(({ instancePath, keyword, message = 'is not valid', params }) => {
    const inside = instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const named = keyword === 'additionalProperties' ? params.additionalProperty : params.missingProperty;
    const path = [...inside, ...(typeof named === 'string' ? [named] : [])].join('.');
    if (keyword === 'additionalProperties') return { path, message: 'is not known' };
    if (keyword === 'required') return { path, message: 'is required' };
    if (keyword === 'enum')
      return { path, message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}` };
    return { path, message };
  });
}

/** Every fault of a manifest; none means that it is one. */
export function checkManifest(value: unknown): Fault[] {
  const validManifest = manifestValidator();
  if (!validManifest(value)) return faultsOf(validManifest.errors);
  return faultsBetween(value as unknown as Manifest);
}

/** The manifest, or an error that lists its faults. */
export function mustBeManifest(value: unknown): Manifest {
  const faults = checkManifest(value);
  if (faults.length === 0) return value as Manifest;
  throw new Error(
    `plugin.json is not valid:\n${faults.map(({ path, message }) => `  ${path}: ${message}`).join('\n')}`,
  );
}

/** Whether a host of this version, by default this one, can run it. */
export const fitsApi = (manifest: Pick<Manifest, 'engine'>, version = API_VERSION): boolean =>
  semver.satisfies(version, manifest.engine.api, { includePrerelease: true });

type AddFault = (path: string, message: string) => void;
/** Adds a fault where the manifest does not ask for the permission that something in it needs. */
type Needs = (path: string, capability: string | null) => void;

/** The faults that a schema cannot find: they lie between fields, or in the text of one. */
function faultsBetween(manifest: Manifest): Fault[] {
  const faults: Fault[] = [];
  const add: AddFault = (path, message) => faults.push({ path, message });
  const { permissions = [], configSchema, hooks = [], schedules = [], actions = [], migrations = [] } = manifest;
  const permitted = new Set<string>(permissions.map(({ name }) => name));
  const needs: Needs = (path, capability) => {
    if (capability && !permitted.has(capability)) add(path, `needs the permission ${capability}`);
  };
  checkVersions(manifest, add);
  unique(
    permissions.map(({ name }) => name),
    'permissions',
    'name',
    add,
  );
  checkEgress(manifest, permitted.has('http'), add, needs);
  for (const [path, form] of formsOf(manifest))
    for (const fault of formFaults(form)) add(`${path}${fault.path}`, fault.message);
  if (secretKeys(configSchema).length > 0) needs('configSchema', 'secrets:config');
  for (const [index, hook] of hooks.entries()) needs(`hooks.${index}.event`, capabilityForEvent(hook.event));
  unique(
    schedules.map(({ name }) => name),
    'schedules',
    'name',
    add,
  );
  for (const [index, { cron }] of schedules.entries()) {
    const fault = cronFault(cron);
    if (fault) add(`schedules.${index}.cron`, fault);
  }
  unique(
    actions.map(({ name }) => name),
    'actions',
    'name',
    add,
  );
  checkProviders(manifest, add, needs);
  for (const [index, { from }] of migrations.entries()) checkRange(from, `migrations.${index}.from`, add);
  for (const [index, { range }] of (manifest.dependencies ?? []).entries())
    checkRange(range, `dependencies.${index}.range`, add);
  return faults;
}

function checkRange(range: string, path: string, add: AddFault): void {
  if (!semver.validRange(range)) add(path, 'is not a range of versions');
}

function checkVersions({ version, engine }: Manifest, add: AddFault): void {
  if (semver.valid(version) !== version) add('version', 'is not a semantic version');
  checkRange(engine.api, 'engine.api', add);
  if (engine.agent) checkRange(engine.agent, 'engine.agent', add);
}

function checkEgress({ egress = [], configSchema }: Manifest, http: boolean, add: AddFault, needs: Needs): void {
  for (const [index, rule] of egress.entries()) {
    if (typeof rule === 'string') continue;
    const field = configSchema?.properties[rule.fromConfig];
    if (field?.type !== 'string') add(`egress.${index}.fromConfig`, 'is not a text of configSchema');
    else if (field['x-secret'])
      add(`egress.${index}.fromConfig`, 'must not be secret: people see where a plugin sends');
  }
  if (egress.length > 0) needs('egress', 'http');
  if (http && egress.length === 0) add('egress', 'must name the servers that the permission http is for');
}

function checkProviders({ providers = [] }: Manifest, add: AddFault, needs: Needs): void {
  unique(
    providers.map(({ kind, key }) => `${kind}/${key}`),
    'providers',
    'key',
    add,
  );
  for (const [index, provider] of providers.entries()) {
    const path = `providers.${index}`;
    const { required, optional } = PROVIDER_OPERATIONS[provider.kind];
    for (const one of required)
      if (!Object.hasOwn(provider.handlers, one)) add(`${path}.handlers.${one}`, 'is required');
    for (const one of Object.keys(provider.handlers)) {
      if (![...required, ...optional].includes(one))
        add(`${path}.handlers.${one}`, `is not an operation of ${provider.kind}`);
    }
    needs(path, PROVIDER_CAPABILITY[provider.kind]);
    if (provider.kind === 'collector') {
      const fault = provider.cron ? cronFault(provider.cron) : 'is required';
      if (fault) add(`${path}.cron`, fault);
      if (!provider.fields?.length) add(`${path}.fields`, 'names the custom fields that it writes');
    }
  }
}

function unique(names: string[], path: string, key: string, add: AddFault): void {
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index) add(`${path}.${index}.${key}`, 'is there twice');
}

function formsOf({ configSchema, actions = [], providers = [] }: Manifest): [string, FormSchema][] {
  const forms: [string, FormSchema | undefined][] = [
    ['configSchema', configSchema],
    ...actions.map(
      ({ inputSchema }, index) => [`actions.${index}.inputSchema`, inputSchema] as [string, FormSchema | undefined],
    ),
    ...providers.map(
      ({ inputSchema }, index) => [`providers.${index}.inputSchema`, inputSchema] as [string, FormSchema | undefined],
    ),
  ];
  return forms.filter((one): one is [string, FormSchema] => one[1] !== undefined);
}

function formFaults(form: FormSchema): Fault[] {
  const faults: Fault[] = [];
  for (const key of form.required ?? []) {
    if (!Object.hasOwn(form.properties, key))
      faults.push({ path: '.required', message: `${key} is not among the properties` });
  }
  for (const [key, field] of Object.entries(form.properties)) {
    const path = `.properties.${key}`;
    if ((field.type === 'array') !== (field.items !== undefined))
      faults.push({ path: `${path}.items`, message: 'goes with the type array' });
    const shown = field['x-visibleWhen'];
    if (shown && !Object.hasOwn(form.properties, shown.field))
      faults.push({ path: `${path}.x-visibleWhen`, message: `${shown.field} is not among the properties` });
  }
  if (faults.length > 0) return faults;
  try {
    compileForm(form);
  } catch (error) {
    faults.push({ path: '', message: `is no usable schema: ${(error as Error).message}` });
  }
  return faults;
}

const compiled = new WeakMap<FormSchema, ValidateFunction>();
/** Compiled by an instance of its own: forms come and go, and an instance would keep them all. Throws where it is none. */
function compileForm(form: FormSchema): ValidateFunction {
  const known = compiled.get(form);
  if (known) return known;
  const closed = { ...form, additionalProperties: false };
  // Not asynchronous: only schemas with $async are.
  void ownAjv().validateSchema(closed, true);
  const validate = newAjv({ validateSchema: false }).compile(closed);
  compiled.set(form, validate);
  return validate;
}

/** The faults of a value against a form of the manifest; without a form only nothing fits. */
export function checkForm(form: FormSchema | undefined, value: unknown): Fault[] {
  const validate = compileForm(form ?? { type: 'object', properties: {} });
  return validate(value) ? [] : faultsOf(validate.errors);
}

/** The value with the defaults of the fields that it lacks. */
export function withDefaults(form: FormSchema | undefined, value: Record<string, unknown>): Record<string, unknown> {
  const defaults = Object.entries(form?.properties ?? {})
    .filter(([, field]) => field.default !== undefined)
    .map(([key, field]) => [key, field.default]);
  return { ...Object.fromEntries(defaults), ...value };
}

export const secretKeys = (form: FormSchema | undefined): string[] =>
  Object.entries(form?.properties ?? {})
    .filter(([, field]) => field['x-secret'])
    .map(([key]) => key);
