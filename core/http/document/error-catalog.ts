/** The page of all error codes, made from their declarations; problem details point into it. */
import { declaredErrors } from '../../errors.ts';

const html = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** Where a code is explained: the `type` of problem details (RFC 9457). */
export const errorType = (code: string): string => `/docs/errors#${code}`;

export function errorPage(): string {
  const rows = [...declaredErrors()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([code, { status, message }]) =>
        `<tr id="${html(code)}"><td><code>${html(code)}</code></td><td>${status}</td><td>${html(message)}</td></tr>`,
    );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Error codes of the Quartermaster API</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2330}
td,th{padding:.2rem .8rem .2rem 0;vertical-align:top;text-align:left}tr:target{background:#fff3c4}
</style><h1>Error codes</h1><p>A code keeps its meaning and its status; the message is for people and may change.
<a href="/docs">All operations</a></p>
<table><tr><th>Code</th><th>Status</th><th>Meaning</th></tr>${rows.join('\n')}</table></html>`;
}
