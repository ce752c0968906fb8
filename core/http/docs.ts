/** The API document and a page that shows it, both from this server alone. */
import type { Server } from '@hapi/hapi';
import { PREFIX } from './route.ts';

const html = (text: unknown) => String(text ?? '').replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

interface Operation {
  summary: string;
  description?: string;
  tags: string[];
  'x-permission'?: string;
  'x-audit'?: string;
  parameters: { name: string; in: string; required: boolean; schema: object; description?: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

function block(method: string, path: string, operation: Operation): string {
  const schema = (title: string, value: object | undefined) =>
    value ? `<h4>${title}</h4><pre>${html(JSON.stringify(value, null, 2))}</pre>` : '';
  const rows = operation.parameters
    .map((p) => `<tr><td><code>${html(p.name)}</code></td><td>${html(p.in)}</td><td>${html(p.description)}</td></tr>`)
    .join('');
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  return `<details><summary><b class="${method}">${method.toUpperCase()}</b> <code>${html(path)}</code> ${html(operation.summary)}</summary>
<p>${html(operation.description)}</p>
<p>${operation['x-permission'] ? `Permission <code>${html(operation['x-permission'])}</code>. ` : ''}${
    operation['x-audit'] ? `Audit <code>${html(operation['x-audit'])}</code>.` : ''
  }</p>
${rows ? `<table>${rows}</table>` : ''}
${schema('Request body', operation.requestBody?.content['application/json']?.schema)}
${success ? schema(`Response ${success[0]}`, success[1].content?.['application/json']?.schema) : ''}</details>`;
}

function renderPage(document: Record<string, unknown>): string {
  const paths = document.paths as Record<string, Record<string, Operation>>;
  const tags = document.tags as { name: string; description: string }[];
  const sections = tags.map(({ name, description }) => {
    const blocks = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags.includes(name))
        .map(([method, operation]) => block(method, PREFIX + path, operation)),
    );
    return `<section><h2>${html(name)}</h2><p>${html(description)}</p>${blocks.join('\n')}</section>`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Quartermaster API</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2330}
details{border:1px solid #d5dae2;border-radius:6px;margin:.4rem 0;padding:.4rem .8rem}summary{cursor:pointer}
pre{background:#f4f6f9;padding:.8rem;overflow:auto;font-size:13px}td{padding:.1rem .8rem .1rem 0;vertical-align:top}
b{display:inline-block;min-width:4.2rem}.get{color:#0a6b3d}.post{color:#8a4b00}.delete{color:#a11}.patch,.put{color:#4a3a9a}
</style><h1>Quartermaster API</h1><p><a href="${PREFIX}/openapi.json">openapi.json</a></p>${sections.join('\n')}</html>`;
}

export function addDocs(server: Server, document: Record<string, unknown>): void {
  const text = JSON.stringify(document);
  const page = renderPage(document);
  const rules = { access: { open: 'the API description holds no tenant data' } };
  server.route([
    {
      method: 'GET',
      path: `${PREFIX}/openapi.json`,
      rules,
      options: { auth: false },
      handler: (_request, h) => h.response(text).type('application/json'),
    },
    {
      method: 'GET',
      path: '/docs',
      rules,
      options: { auth: false },
      handler: (_request, h) => h.response(page).type('text/html'),
    },
  ]);
}
