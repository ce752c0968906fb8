/** Rules for environment variables. A fault never repeats the value, which may be a secret. */
import Joi from 'joi';

/** The rule of one variable. Its text becomes a value of this type. */
export type Rule<T> = Joi.Schema & { readonly valueType?: T };
export type Rules = Readonly<Record<string, Rule<unknown>>>;
/** The values that rules give. */
export type ValuesOf<R extends Rules> = { readonly [K in keyof R]: R[K] extends Rule<infer T> ? T : never };

const trustKeyPattern = /^[\w.-]{1,64}:[A-Za-z0-9+/]{43}=$/;

/** Commas between hosts, before the path or in the parameter `host`. A comma of the password lies before the last `@`. */
const SEVERAL_HOSTS = /^[a-z]+:\/\/(?:[^/?#]*@)?[^/?#@]*,[^/?#@]*(?:[/?#]|$)|[?&]host=[^&#]*(?:,|%2c)/i;
const PRIMARY = 'name an address that always leads to the primary';
const ONE_HOST = `must name one host, as several are not supported; ${PRIMARY}`;

export const variable = {
  /** A boolean: 0, false, no, off, 1, true, yes or on. */
  flag: (fallback: boolean): Rule<boolean> =>
    Joi.boolean()
      .truthy('1', 'yes', 'on')
      .falsy('0', 'no', 'off')
      .default(fallback)
      .messages({ 'boolean.base': 'must be one of 0, false, no, off, 1, true, yes, on' }),

  /** An integer from `min` to `max`. */
  number: (min: number, max: number, fallback: number): Rule<number> =>
    Joi.number().integer().min(min).max(max).default(fallback),

  optionalNumber: (min: number, max: number): Rule<number | undefined> => Joi.number().integer().min(min).max(max),

  /** One of these words. */
  oneOf: <W extends string>(words: readonly W[], fallback: NoInfer<W>): Rule<W> =>
    Joi.string()
      .valid(...words)
      .default(fallback),

  /** Text that may be missing. */
  text: (schema: Joi.StringSchema = Joi.string()): Rule<string | undefined> => schema,

  textOr: (fallback: string, schema: Joi.StringSchema = Joi.string()): Rule<string> => schema.default(fallback),

  /** At least 32 characters. */
  secret: (): Rule<string | undefined> =>
    Joi.string().min(32).messages({ 'string.min': 'must have at least 32 characters' }),

  url: (...scheme: string[]): Rule<string | undefined> => urlOf(scheme),

  /** The URL of one PostgreSQL server: the driver knows neither several hosts nor the choice between them. */
  postgresUrl: (): Rule<string | undefined> => {
    const url = urlOf(['postgres', 'postgresql']);
    return Joi.string().custom((text: string, helpers) => {
      if (SEVERAL_HOSTS.test(text)) return helpers.message({ custom: ONE_HOST });
      if (/[?&]target_session_attrs=/i.test(text)) {
        return helpers.message({ custom: `must not have target_session_attrs, which has no effect here; ${PRIMARY}` });
      }
      const { error } = url.validate(text, { errors: { label: false } });
      return error ? helpers.message({ custom: error.message }) : text;
    });
  },

  urlOr: (fallback: string, ...scheme: string[]): Rule<string> => urlOf(scheme).default(fallback),

  /** A comma-separated list. A fault names the position, never the text, which might be a misplaced secret. */
  list: (item: Joi.StringSchema, fallback: readonly string[] = []): Rule<string[]> =>
    Joi.string()
      .custom((text: string, helpers) => {
        const entries = text
          .split(',')
          .map((entry) => entry.trim())
          .filter((entry) => entry !== '');
        for (const [index, entry] of entries.entries()) {
          const { error } = item.validate(entry, { errors: { label: false } });
          if (error) return helpers.message({ custom: `entry ${index + 1} ${error.message}` });
        }
        return entries;
      })
      .default([...fallback]),

  /** Bytes in base64url, as tools for Web Push print them. */
  base64url: (bytes: number): Rule<string | undefined> =>
    Joi.string()
      .pattern(/^[A-Za-z0-9_-]+$/)
      .length(Math.ceil((bytes * 4) / 3))
      .messages({ '*': `must be ${bytes} bytes in base64url` }),

  /** A list of `<key id>:<raw Ed25519 public key in base64>`; read each with `trustKeyOf`. */
  trustKeys: (): Rule<string[]> =>
    variable.list(
      Joi.string()
        .pattern(trustKeyPattern)
        .messages({ 'string.pattern.base': 'must be a key id, a colon and the 32 bytes of an Ed25519 key in base64' }),
    ),
};

const urlOf = (scheme: string[]): Joi.StringSchema =>
  Joi.string()
    .uri({ scheme })
    .messages({
      'string.uriCustomScheme': `must be a URL that starts with ${scheme.map((one) => `${one}://`).join(' or ')}`,
    });

/** The parts of `id:base64`. */
export function trustKeyOf(text: string): { id: string; publicKey: string } {
  const [id = '', publicKey = ''] = text.split(':');
  return { id, publicKey };
}
