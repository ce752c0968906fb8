/** What `conventions` is measured against: the same handlers as routes of hapi, without any of the API's conventions. */
import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { runUnitOfWork } from '#core/work';
import type { Input } from '../../core/contract/index.ts';
import { Reply } from '../../core/http/reply.ts';
import type { RouteServices, RouteTag } from '../../core/http/route.ts';

export const PREFIX = '/api/v1';

export const toServerRoute = ({ work }: RouteServices, tag: RouteTag): ServerRoute => {
  const { route } = tag;
  return {
    method: route.method,
    path: PREFIX + route.path,
    rules: { access: route.access },
    options: {
      auth: { strategy: 'caller', mode: 'required' },
      plugins: { quartermaster: () => tag },
      validate: {
        ...(route.params ? { params: route.params } : {}),
        ...(route.query ? { query: route.query } : {}),
        ...(route.payload && route.method !== 'GET' ? { payload: route.payload } : {}),
      },
      handler: (request, h) => answer(work, tag, request, h),
    },
  };
};

async function answer(work: RouteServices['work'], { route }: RouteTag, request: Request, h: ResponseToolkit) {
  const { caller } = request.auth.credentials;
  if (!caller) throw new Error('nobody is calling');
  const { actor, scope } = caller;
  const system = scope.kind === 'system' || typeof route.work === 'object';
  const result = await runUnitOfWork(
    work,
    {
      actor,
      scope,
      requestId: request.app.requestId,
      log: request.server.app.log,
      role: system ? 'platform' : 'app',
      closed: route.work === 'none',
    },
    async (ctx) => route.handler(ctx, request as unknown as Input),
  );
  const { body, options } = result instanceof Reply ? result : { body: result, options: {} as Reply['options'] };
  return h.response(body as object).code(options.status ?? route.status ?? 200);
}
