/** The API document, and a page that shows it and tries it out: both from this server alone. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Request, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi';
import { sha256Hex } from '../../auth/opaque-tokens.ts';
import type { Scope } from '../../context/index.ts';
import { NOWHERE } from '../../context/index.ts';
import type { AnyRoute } from '../../contract/index.ts';
import { offFor } from '../../modules/gate.ts';
import type { ModuleStates } from '../../modules/states.ts';
import { type AccessServices, admit } from '../access.ts';
import { PREFIX } from '../route.ts';
import { withoutModules } from './document.ts';
import { errorPage } from './error-catalog.ts';
import type { Json } from './json-schema.ts';

/** Documents kept, by the set of modules that are off. */
const MAX_DOCUMENTS = 50;

export interface DocsServices {
  /** With every module; built on the first request for it. */
  document: () => Json;
  modules: ModuleStates;
  access: AccessServices;
}
interface Shown {
  text: string;
  etag: string;
}

/** Nothing from elsewhere, and no script but the files below; the renderer draws its icons from data: addresses. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Quartermaster API</title>
<link rel="icon" type="image/png" href="/docs/ui/favicon-32x32.png">
<link rel="stylesheet" href="/docs/ui/swagger-ui.css">
</head>
<body>
<noscript>The page needs JavaScript. The document itself: <a href="${PREFIX}/openapi.json">openapi.json</a>.</noscript>
<div id="ui"></div>
<script src="/docs/ui/swagger-ui-bundle.js"></script>
<script src="/docs/ui/start.js"></script>
</body>
</html>
`;
/** Tokens stay in the memory of the page; answers of this server only. */
const START = `SwaggerUIBundle({
  url: '${PREFIX}/openapi.json',
  dom_id: '#ui',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;
const FILES: Record<string, string> = {
  'favicon-32x32.png': 'image/png',
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
};

async function uiFile(name: string): Promise<Buffer | string> {
  if (name === 'start.js') return START;
  return readFile(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`)));
}

/** The whole document for the anonymous, as far as the installation has it; for a caller what the caller's tenant has. */
export function addDocs(server: Server, { document, modules, access }: DocsServices): void {
  const known = new Map<string, Shown>();
  const shown = (scope: Scope): Shown => {
    const off = new Set([...modules.switched].filter((name) => offFor(modules, name, scope)));
    const key = [...off].sort().join(' ');
    const found = known.get(key);
    if (found) return found;
    const text = JSON.stringify(withoutModules(document(), off));
    const made = { text, etag: sha256Hex(text).slice(0, 32) };
    if (known.size >= MAX_DOCUMENTS) known.clear();
    known.set(key, made);
    return made;
  };
  const files = new Map<string, Promise<{ body: Buffer | string; etag: string }>>();
  const file = (name: string) => {
    const found =
      files.get(name) ?? uiFile(name).then((body) => ({ body, etag: sha256Hex(body.toString('latin1')).slice(0, 32) }));
    files.set(name, found);
    return found;
  };
  const rules = { access: { open: 'the API description holds no tenant data' } };
  const options = { auth: false as const };
  server.route([
    {
      method: 'GET',
      path: `${PREFIX}/openapi.json`,
      rules,
      options,
      handler: async (request, h) => {
        const { text, etag } = shown(await scopeOf(access, modules, request));
        return h.response(text).type('application/json').etag(etag).vary('authorization').vary('x-api-key');
      },
    },
    {
      method: 'GET',
      path: '/docs',
      rules,
      options,
      handler: (_request, h) => h.response(PAGE).type('text/html').header('content-security-policy', POLICY),
    },
    ...[...Object.keys(FILES), 'start.js'].map((name) => ({
      method: 'GET' as const,
      path: `/docs/ui/${name}`,
      rules,
      options,
      handler: async (_request: Request, h: ResponseToolkit) => {
        const { body, etag } = await file(name);
        const type = FILES[name] ?? 'text/javascript';
        return h.response(body).type(type).etag(etag).header('x-content-type-options', 'nosniff');
      },
    })),
    {
      method: 'GET',
      path: '/docs/errors',
      rules,
      options,
      handler: (_request, h) => h.response(errorPage()).type('text/html').header('content-security-policy', POLICY),
    },
  ] satisfies ServerRoute[]);
}

const ASKING = { access: { permission: null, why: 'it says what there is for the caller' } } as AnyRoute;

/** A request without a token gets the document of the installation; a request with a token needs a valid one. */
async function scopeOf(access: AccessServices, modules: ModuleStates, request: Request): Promise<Scope> {
  await modules.settled();
  const headers = request.headers as Record<string, string | undefined>;
  if (!headers.authorization && !headers['x-api-key']) return NOWHERE;
  const caller = await admit(access, { route: ASKING, headers, params: {}, ip: request.app.ip }, () => undefined);
  return caller.scope;
}
