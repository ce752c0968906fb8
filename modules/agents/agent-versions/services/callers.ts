/** Authenticates an agent or a signed-in user, which no single kind of route access does. */
import { type AgentAccess, type Context, errors, type Input } from '#core';

/** The form of agent tokens. The path does not name the agent, so the query does. */
const AGENT_TOKEN = /^svc_[0-9a-f]{64}$/;

/** Throws 401, or the error for the state of the agent. */
export async function mustBeCaller(
  ctx: Context,
  headers: Input['headers'],
  agentId: string | undefined,
): Promise<void> {
  const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (!token) throw errors.Unauthenticated();
  if (!AGENT_TOKEN.test(token)) {
    await ctx.services.verifyAccess(token).catch(() => {
      throw errors.Unauthenticated('The access token is not valid or has expired');
    });
    return;
  }
  const [agents] = ctx.contributions('auth.agent');
  if (!agents || !agentId) throw errors.Unauthenticated();
  const route: AgentAccess = { roles: ['agent', 'watchdog'] };
  await agents.authenticate({ agentId, token, route, services: ctx.services, ip: ctx.actor.ip ?? '' });
}
