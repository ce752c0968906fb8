/** The agents that are connected to this process: who they are, whether they still may be, and what reaches them. */
import { randomUUID } from 'node:crypto';
import { CAPABILITIES, CLOSE } from '#agent-protocol';
import { AppError, defineService, errors, type SocketLink, type StartServices } from '#core';
import { sha256Hex } from '#core/auth';
import { connected } from '../../models/agent-path.ts';
import { variables } from '../../variables.ts';
import { agentConfigs, SETTINGS_NOTICE } from '../configs.ts';
import { answerBeat } from '../heartbeats.ts';
import { bearerOf, readmit, tokenByHash } from '../tokens/authentication.ts';
import { AGENT_NOTICE, type TokenCache } from '../tokens/token-cache.ts';
import { AgentSocket } from './agent-socket.ts';
import { connect, disconnect, inactiveAmong, keepNode, REPLACED_NOTICE, type SocketRole } from './connections.ts';
import { takeFrame } from './frames.ts';

/** Milliseconds between looks at all sockets, and between signs of life of this process. */
const TICK_MS = 1_000;
const NODE_MS = 10_000;
const MOST_PONG_MS = 10_000;
/** A socket that answers but whose agent does not beat is a sign of life too, once in so many pings. */
const PRESENCE_PINGS = 4;
/** Changes of tenants come in bursts; within a second sockets of suspended ones must be closed. */
const TENANTS_MS = 250;
/** Registered for RFC 6455: the server cannot take the connection now. */
const TRY_AGAIN = 1013;

export class AgentHub {
  readonly nodeId = randomUUID();
  readonly #asPlatform: StartServices['asPlatform'];
  readonly #cache: TokenCache;
  readonly #sockets: Record<SocketRole, Map<string, AgentSocket>> = { agent: new Map(), watchdog: new Map() };
  #timer: NodeJS.Timeout | undefined;
  #tenants: NodeJS.Timeout | undefined;
  #keptAt = Number.NEGATIVE_INFINITY;
  #pingMs = 30_000;
  /** Somebody came who was admitted by what was known up to a second ago. */
  #arrived = false;

  constructor(asPlatform: StartServices['asPlatform'], cache: TokenCache) {
    this.#asPlatform = asPlatform;
    this.#cache = cache;
  }

  get size(): number {
    return this.#sockets.agent.size + this.#sockets.watchdog.size;
  }

  /** Takes a socket whose upgrade was admitted: epoch first, then the place here, then the first beat. */
  async welcome(link: SocketLink): Promise<void> {
    const { deviceId } = link.scope;
    if (!deviceId) throw errors.Unauthenticated();
    await this.#live(link);
    const tokenHash = sha256Hex(bearerOf(link));
    const token = await readmit(this.#cache, tokenHash, connected);
    const role = token.role === 'watchdog' ? 'watchdog' : 'agent';
    const epoch = await link.work((ctx) => connect(ctx, { deviceId, role, nodeId: this.nodeId }));
    const { agentId, orgId } = token;
    const socket = new AgentSocket(
      link,
      { deviceId, agentId, orgId, role, tokenHash, epoch },
      { take: takeFrame, closed: (one) => this.#closed(one) },
    );
    const now = performance.now();
    socket.nextPingAt = now + this.#pingMs * (0.5 + Math.random() / 2);
    socket.beatAt = now;
    this.#add(socket);
    socket.listen();
    link.count('opened');
    socket.send({
      frame: 'connected',
      agentId,
      timestamp: new Date().toISOString(),
      epoch,
      pingSeconds: this.#pingMs / 1000,
      capabilities: CAPABILITIES,
    });
    // What changed while it was on its way here found no socket to close.
    await this.#recheck(socket);
    await this.#beat(socket);
  }

  /** What waits in the queue of a device goes out over its sockets. */
  push(deviceId: string): void {
    for (const socket of this.#of(deviceId)) void socket.push();
  }

  pushAll(): void {
    for (const socket of this.#all()) void socket.push();
  }

  recheck(deviceId: string): void {
    for (const socket of this.#of(deviceId)) void this.#recheck(socket);
  }

  recheckAll(): void {
    for (const socket of this.#all()) void this.#recheck(socket);
  }

  /** Another connection of the same agent is newer, here or elsewhere. */
  replaced(deviceId: string, role: SocketRole, epoch: number): void {
    const socket = this.#sockets[role].get(deviceId);
    if (!socket || socket.epoch >= epoch) return;
    this.#sockets[role].delete(deviceId);
    socket.close(CLOSE.REPLACED, 'replaced');
  }

  /** Something about organizations or partners changed: looked at once for all changes of a moment. */
  tenantsChanged(): void {
    if (this.size === 0) return;
    this.#tenants ??= setTimeout(() => {
      this.#tenants = undefined;
      void this.#closeInactive();
    }, TENANTS_MS).unref();
  }

  /** Tells agents whose configuration is another one now; they fetch it, or get it with their next beat. */
  async settingsChanged(orgId: string): Promise<void> {
    for (const socket of this.#all()) {
      if (orgId !== '*' && socket.orgId !== orgId) continue;
      await socket.link
        .work(async (ctx) => (await agentConfigs(ctx).of(socket.orgId)).configVersion)
        .then((version) => {
          if (socket.configVersion !== version) socket.send({ frame: 'config', version });
          socket.configVersion = version;
        })
        .catch(() => undefined);
    }
  }

  #of(deviceId: string): AgentSocket[] {
    return [this.#sockets.agent.get(deviceId), this.#sockets.watchdog.get(deviceId)].filter((one) => one !== undefined);
  }

  *#all(): Generator<AgentSocket> {
    yield* this.#sockets.agent.values();
    yield* this.#sockets.watchdog.values();
  }

  #add(socket: AgentSocket): void {
    const { deviceId, role, epoch } = socket;
    const held = this.#sockets[role].get(deviceId);
    if (held && held.epoch > epoch) {
      socket.close(CLOSE.REPLACED, 'replaced');
      return;
    }
    this.replaced(deviceId, role, epoch);
    this.#sockets[role].set(deviceId, socket);
    this.#arrived = true;
  }

  #closed(socket: AgentSocket): void {
    const { deviceId, role, epoch, link } = socket;
    link.count('closed');
    if (this.#sockets[role].get(deviceId) === socket) this.#sockets[role].delete(deviceId);
    link.work((ctx) => disconnect(ctx, { deviceId, role, epoch })).catch(() => link.count('disconnect_failed'));
    if (this.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Before the first socket the process makes itself known, so that its connections are never taken for a dead one's. */
  async #live({ services }: SocketLink): Promise<void> {
    this.#pingMs = variables.of(services.config).pingSeconds * 1000;
    if (performance.now() - this.#keptAt > NODE_MS * 2) await this.#keep();
    this.#timer ??= setInterval(() => this.#tick(performance.now()), TICK_MS).unref();
  }

  async #keep(): Promise<void> {
    this.#keptAt = performance.now();
    await this.#asPlatform((ctx) => keepNode(ctx, this.nodeId));
  }

  #tick(now: number): void {
    const pongMs = Math.min(MOST_PONG_MS, this.#pingMs);
    for (const socket of this.#all()) {
      if (socket.pingedAt > 0 && now - socket.pingedAt > pongMs && !socket.busy) socket.close(CLOSE.PONG, 'no pong');
      else if (now >= socket.nextPingAt) this.#ping(socket, now);
    }
    const due = now - this.#keptAt >= NODE_MS;
    if (due) void this.#keep().catch(() => undefined);
    if (due || this.#arrived) void this.#closeInactive();
    this.#arrived = false;
  }

  #ping(socket: AgentSocket, now: number): void {
    socket.nextPingAt = now + this.#pingMs;
    socket.pingedAt = now;
    socket.send({ frame: 'ping' });
    if (socket.tokenEnds && socket.tokenEnds.getTime() <= Date.now()) void this.#recheck(socket);
    if (now - socket.beatAt < PRESENCE_PINGS * this.#pingMs) return;
    void this.#beat(socket).catch(() => undefined);
  }

  /** A connection counts as a beat that says nothing: it makes the device online and notices its address. */
  async #beat(socket: AgentSocket): Promise<void> {
    if (!socket.open) return;
    const { link, tokenHash, role, epoch } = socket;
    socket.beatAt = performance.now();
    const { answer, commands } = await link.work(async (ctx) =>
      answerBeat(ctx, await tokenByHash(ctx, tokenHash), { role }, epoch),
    );
    socket.configVersion ??= answer.configVersion;
    socket.deliver(commands);
  }

  async #recheck(socket: AgentSocket): Promise<void> {
    try {
      const token = await readmit(this.#cache, socket.tokenHash, connected);
      socket.tokenEnds = token.expiresAt;
      if (token.orgId !== socket.orgId) socket.close(CLOSE.MOVED, 'moved');
    } catch (fault) {
      const why = refusalOf(fault);
      // A token that was rotated ends ten minutes later; its agent has the next one and only needs to come again.
      if (why?.reason === 'unauthenticated' && socket.tokenEnds) socket.close(CLOSE.MOVED, 'token replaced');
      // Who cannot be asked about stays until the next time.
      else if (why) socket.close(why.code, why.reason);
    }
  }

  async #closeInactive(): Promise<void> {
    const orgIds = new Set<string>();
    for (const { orgId } of this.#all()) orgIds.add(orgId);
    if (orgIds.size === 0) return;
    const inactive = await this.#asPlatform((ctx) => inactiveAmong(ctx, [...orgIds])).catch(() => new Set<string>());
    if (inactive.size === 0) return;
    for (const socket of this.#all()) {
      if (!inactive.has(socket.orgId)) continue;
      this.#cache.forgetDevice(socket.deviceId);
      socket.close(CLOSE.STATE, 'tenant_inactive');
    }
  }
}

function refusalOf(fault: unknown): { code: number; reason: string } | null {
  if (!(fault instanceof AppError) || fault.status >= 500) return null;
  return { code: fault.status === 403 ? CLOSE.STATE : CLOSE.AUTH, reason: fault.code.toLowerCase() };
}

export const HUB = defineService<AgentHub>('agents.hub');

export function startHub(start: StartServices, cache: TokenCache): AgentHub {
  const { asPlatform, onNotice, onNoticesLost, onModulesChanged } = start;
  const hub = new AgentHub(asPlatform, cache);
  onNotice('device-commands.waiting', (deviceId) => hub.push(deviceId));
  onNotice('devices.changed', (deviceId) => hub.recheck(deviceId));
  onNotice(AGENT_NOTICE, (deviceId) => hub.recheck(deviceId));
  onNotice('principals', () => hub.tenantsChanged());
  onNotice(SETTINGS_NOTICE, (orgId) => void hub.settingsChanged(orgId));
  onModulesChanged(() => void hub.settingsChanged('*'));
  onNotice(REPLACED_NOTICE, (payload) => {
    const [deviceId = '', role, epoch] = payload.split(' ');
    hub.replaced(deviceId, role === 'watchdog' ? 'watchdog' : 'agent', Number(epoch));
  });
  onNoticesLost(() => {
    hub.recheckAll();
    hub.tenantsChanged();
    hub.pushAll();
  });
  return hub;
}

/** The socket is not read until it has its place; a failure before that asks the agent to come again. */
export function openAgentSocket(link: SocketLink): void {
  const hub = link.services.get(HUB);
  link.socket.pause();
  hub.welcome(link).catch((fault: unknown) => {
    link.count('welcome_failed');
    const { code, reason } = refusalOf(fault) ?? { code: TRY_AGAIN, reason: 'try again later' };
    link.socket.close(code, reason);
    link.socket.resume();
  });
}
