/** `console` in a plugin: it writes to the plugin's log. */
import type { PluginLogger } from '../plugin.ts';

const LEVELS = { log: 'info', info: 'info', debug: 'debug', trace: 'debug', warn: 'warn', error: 'error' } as const;

/** @param log of the invocation under way; outside of one nothing could say whose line it is, and it is dropped */
export function consoleOver(log: () => PluginLogger | undefined): Record<string, (...parts: unknown[]) => void> {
  return Object.fromEntries(
    Object.entries(LEVELS).map(([name, level]) => [
      name,
      (...parts: unknown[]) => log()?.[level](parts.map(inWords).join(' ')),
    ]),
  );
}

function inWords(part: unknown): string {
  if (typeof part === 'string') return part;
  if (part instanceof Error) return part.stack ?? part.message;
  try {
    return JSON.stringify(part) ?? String(part);
  } catch {
    return String(part);
  }
}
