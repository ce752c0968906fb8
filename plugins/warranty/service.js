// @ts-check
/** The warranty service: one request for one serial number. */
import { mustSucceed, PermanentError, RetryableError } from '@quartermaster/plugin-sdk';

/**
 * @typedef {{ baseUrl: string, path: string, apiKey?: string, keyHeader: string, endField: string, levelField: string,
 *   cacheDays: number, lookupsPerRun: number }} Config
 * @typedef {import('@quartermaster/plugin-sdk').PluginContext<Config>} Context
 * @typedef {import('@quartermaster/plugin-sdk').DeviceInfo} DeviceInfo
 * @typedef {{ end: string | null, level: string | null }} Warranty `end` as yyyy-mm-dd; null where none is known
 */

/** @param {string} serial @param {DeviceInfo} device @param {Context} ctx @returns {Promise<Warranty>} */
export async function lookUp(serial, { manufacturer, model }, { config, http }) {
  const parts = { serial, manufacturer: manufacturer ?? '', model: model ?? '' };
  const path = config.path.replace(
    /\{(serial|manufacturer|model)\}/g,
    (_whole, /** @type {keyof typeof parts} */ name) => encodeURIComponent(parts[name]),
  );
  const answer = await http.fetch(config.baseUrl.replace(/\/+$/, '') + path, {
    headers: { accept: 'application/json', ...(config.apiKey ? { [config.keyHeader]: config.apiKey } : {}) },
  });
  // A serial number that the service does not know is an answer, and remembered like one.
  if (answer.status === 404) return { end: null, level: null };
  // That is no fault of the serial number: nothing goes on until somebody mends it.
  if (answer.status === 401 || answer.status === 403) throw new RetryableError('The warranty service refuses the key');
  mustSucceed(answer, 'The warranty service');
  /** @type {unknown} */
  let body;
  try {
    body = JSON.parse(answer.body);
  } catch {
    throw new PermanentError('The warranty service answered with something that is not JSON');
  }
  const level = valueAt(body, config.levelField);
  return { end: dateOf(valueAt(body, config.endField)), level: typeof level === 'string' ? level.slice(0, 200) : null };
}

/** The day of a date or a time. @param {unknown} value */
function dateOf(value) {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString().slice(0, 10);
}

/** @param {unknown} from @param {string} path */
function valueAt(from, path) {
  /** @type {any} */
  let value = from;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}
