/** Secrets in command lines are for those who may run commands themselves. */
import { type Context, holdsPermission } from '#core';

const GONE = '[REDACTED]';
const WORD = '(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|credential|auth(?:orization)?|bearer)';
const VALUE = `(?:"[^"]*"|'[^']*'|[^\\s"']+)`;
/** Each keeps what says that here was a secret. */
const PATTERNS: readonly RegExp[] = [
  // --password=x, --db-password x, /pwd:x, -pass x
  new RegExp(`((?:^|\\s)(?:--?|/)[\\w-]*${WORD}[\\w-]*(?:=|:|\\s+))${VALUE}`, 'gi'),
  // PASSWORD=x as an assignment
  new RegExp(`(\\b\\w*${WORD}\\w*=)${VALUE}`, 'gi'),
  // /p:x of Windows programs
  new RegExp(`((?:^|\\s)/p:)${VALUE}`, 'gi'),
  // name:secret@host in addresses
  /(:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/gi,
  // headers of HTTP clients
  /(authorization:\s*(?:\w+\s+)?)[^\s"']+/gi,
];

/** The text as it is for whoever holds `devices:execute`, without its secrets for all others. */
export function lineFor(ctx: Context): <T extends string | null>(text: T) => T {
  if (holdsPermission(ctx.actor.permissions, 'devices:execute', 'POST')) return (text) => text;
  return (text) => (text === null ? text : redacted(text)) as typeof text;
}

export const redacted = (text: string): string =>
  PATTERNS.reduce((line, pattern) => line.replace(pattern, `$1${GONE}`), text);
