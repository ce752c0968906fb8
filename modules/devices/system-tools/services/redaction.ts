/** Removes secrets from command lines for users who may not run commands themselves. */
import { type Context, holdsPermission } from '#core';

const REDACTED = '[REDACTED]';
const WORD = '(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_]?key|credential|auth(?:orization)?|bearer)';
const VALUE = `(?:"[^"]*"|'[^']*'|[^\\s"']+)`;
/** Each pattern keeps the part that names the secret. */
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

/** Returns the text unchanged for callers with `devices:execute`, and without secrets for all others. */
export function lineFor(ctx: Context): <T extends string | null>(text: T) => T {
  if (holdsPermission(ctx.actor.permissions, 'devices:execute', 'POST')) return (text) => text;
  return (text) => (text === null ? text : redacted(text)) as typeof text;
}

export const redacted = (text: string): string =>
  PATTERNS.reduce((line, pattern) => line.replace(pattern, `$1${REDACTED}`), text);
