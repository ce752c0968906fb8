// @ts-check
/** The ticket system: requests to its paths, and its names of fields. */
import { mustSucceed, PermanentError, RetryableError } from '@quartermaster/plugin-sdk';

/**
 * @typedef {{
 *   baseUrl: string, token: string, tokenHeader: string, openWhenOffline: boolean, createPath: string, ticketPath: string,
 *   updateMethod: 'PATCH' | 'PUT' | 'POST', searchPath?: string, companiesPath: string, testPath: string, listField?: string,
 *   titleField: string, bodyField: string, priorityField: string, statusField: string, commentField: string,
 *   referenceField: string, companyField: string, company?: string, closedStatus: string, idField: string, urlField: string,
 *   nameField: string, priorities: string[],
 * }} Config
 * @typedef {import('@quartermaster/plugin-sdk').PluginContext<Config>} Context
 * @typedef {{ externalId: string, url: string | null, status: string | null }} Ticket
 * @typedef {{ title?: string, body?: string, priority?: string, status?: string, comment?: string, reference?: string,
 *   companyId?: string }} Fields
 */

/** @param {Context} ctx @param {string} path @param {{ method?: 'POST' | 'PATCH' | 'PUT', body?: object, key?: string }} [init] */
export async function request({ config, http }, path, { method, body, key } = {}) {
  const answer = await http.fetch(config.baseUrl.replace(/\/+$/, '') + path, {
    ...(method ? { method } : {}),
    ...(body ? { body: JSON.stringify(body) } : {}),
    headers: {
      accept: 'application/json',
      [config.tokenHeader]: config.token,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(key ? { 'idempotency-key': key } : {}),
    },
  });
  mustSucceed(answer, 'The ticket system');
  if (answer.body.trim() === '') return null;
  try {
    return /** @type {unknown} */ (JSON.parse(answer.body));
  } catch {
    throw new RetryableError('The ticket system answered with something that is not JSON');
  }
}

/** The value at `a.b.c`; undefined where there is none. @param {unknown} from @param {string} path */
export function valueAt(from, path) {
  /** @type {any} */
  let value = from;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** @param {unknown} answer @param {Config} config */
export function listOf(answer, { listField }) {
  const list = listField ? valueAt(answer, listField) : answer;
  if (!Array.isArray(list)) throw new PermanentError(`There is no list at ${listField || 'the top'} of the answer`);
  return list;
}

/** @param {unknown} from @param {Config} config @returns {Ticket} */
export function ticketOf(from, { idField, urlField, statusField }) {
  const id = valueAt(from, idField);
  if (typeof id !== 'string' && typeof id !== 'number') throw new PermanentError(`The answer has no ${idField}`);
  const text = (/** @type {unknown} */ value) => (typeof value === 'string' ? value.slice(0, 100) : null);
  const url = valueAt(from, urlField);
  return {
    externalId: String(id),
    url: typeof url === 'string' ? url.slice(0, 2_000) : null,
    status: text(valueAt(from, statusField)),
  };
}

/** The body of a request, under the names that the ticket system has. @param {Fields} fields @param {Config} config */
export function bodyOf(fields, config) {
  /** @type {Record<string, any>} */
  const body = {};
  const put = (/** @type {string} */ path, /** @type {unknown} */ value) => {
    if (value === undefined || path === '') return;
    const parts = path.split('.');
    const last = parts.pop() ?? path;
    let place = body;
    for (const part of parts) place = place[part] = Object.hasOwn(place, part) ? place[part] : {};
    place[last] = value;
  };
  put(config.titleField, fields.title);
  put(config.bodyField, fields.body);
  put(config.priorityField, fields.priority);
  put(config.statusField, fields.status);
  put(config.commentField, fields.comment);
  put(config.referenceField, fields.reference);
  put(config.companyField, fields.companyId);
  return body;
}

/**
 * One ticket for a reference, however often it is asked for: found by the reference, or made under it as idempotency key.
 * @param {Context} ctx @param {Fields & { reference: string }} fields @returns {Promise<Ticket>}
 */
export async function ensureTicket(ctx, fields) {
  const { config } = ctx;
  if (config.searchPath) {
    const found = await request(ctx, config.searchPath.replace('{reference}', encodeURIComponent(fields.reference)));
    const same = listOf(found, config).find((one) => valueAt(one, config.referenceField) === fields.reference);
    if (same) return ticketOf(same, config);
  }
  const body = bodyOf({ ...fields, companyId: fields.companyId ?? config.company }, config);
  return ticketOf(await request(ctx, config.createPath, { method: 'POST', body, key: fields.reference }), config);
}

/** @param {Context} ctx @param {string} externalId @param {Fields} fields @returns {Promise<Ticket>} */
export async function changeTicket(ctx, externalId, fields) {
  const { config } = ctx;
  const path = config.ticketPath.replace('{id}', encodeURIComponent(externalId));
  const answer = await request(ctx, path, { method: config.updateMethod, body: bodyOf(fields, config) });
  // Some answer with nothing.
  if (valueAt(answer, config.idField) === undefined) return { externalId, url: null, status: fields.status ?? null };
  return ticketOf(answer, config);
}
