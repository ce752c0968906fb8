/** What a process says when it starts, and when it ends. */
import type { StartedPlugin, WireError } from '#plugin-sdk/host';

export const INTERNAL: WireError = { code: 'INTERNAL', message: 'The host could not do this' };

export function mustBeStarted(result: unknown): StartedPlugin {
  const { apiVersion, handlers, lifecycle } = (result ?? {}) as Partial<StartedPlugin>;
  const texts = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (typeof apiVersion !== 'string' || !texts(handlers) || !texts(lifecycle))
    throw new Error('It did not say what it has');
  return { apiVersion, handlers, lifecycle };
}

/** The line of an uncaught error that names it, without the source excerpt around it. */
export function lastWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  return (
    lines.find((line) => /^\w*(Error|Exception)\b.*/.test(line)) ??
    lines.findLast((line) => line !== '') ??
    'no reason'
  ).slice(0, 300);
}
