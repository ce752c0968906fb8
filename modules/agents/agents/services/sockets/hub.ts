/** The agents that are connected to this process: accepts, checks, pings and closes their sockets. */
import { randomUUID } from 'node:crypto';
import { CAPABILITIES, CLOSE } from '#agent-protocol';
import { AppError, defineService, errors, type SocketLink, type StartServices } from '#core';
import { sha256Hex } from '#core/auth';
import { connected } from '../../models/agent-path.ts';
import { variables } from '../../variables.ts';
import { agentConfigs, SETTINGS_NOTICE } from '../configs.ts';
import { answerHeartbeat } from '../heartbeats.ts';
import { bearerOf, readmit, tokenByHash } from '../tokens/authentication.ts';
import { AGENT_NOTICE, type TokenCache } from '../tokens/token-cache.ts';
import { AgentSocket } from './agent-socket.ts';
import { connect, disconnect, inactiveAmong, keepNode, REPLACED_NOTICE, type SocketRole } from './connections.ts';
import { takeFrame } from './frames.ts';

/** How often all sockets are checked, and how often this process marks itself as running. */
const TICK_INTERVAL_MS = 1_000;
const NODE_INTERVAL_MS = 10_000;
const PONG_TIMEOUT_MS = 10_000;
/** Number of pings after which an agent that sends no heartbeat, but answers pings, counts as having sent one. */
const PRESENCE_PINGS = 4;
/** Changes of tenants come in bursts, but sockets of suspended tenants must be closed within a second. */
const TENANT_CHECK_DELAY_MS = 250;
/** Close code of RFC 6455: the server cannot accept the connection now. */
const CLOSE_TRY_AGAIN = 1013;

export class AgentHub {
  readonly nodeId = randomUUID();
  readonly #asPlatform: StartServices['asPlatform'];
  readonly #cache: TokenCache;
  readonly #sockets: Record<SocketRole, Map<string, AgentSocket>> = { agent: new Map(), watchdog: new Map() };
  #timer: NodeJS.Timeout | undefined;
  #tenants: NodeJS.Timeout | undefined;
  #keptAt = Number.NEGATIVE_INFINITY;
  #pingMs = 30_000;
  /** A socket was accepted since the last tick, by a state of its tenant that may be a second old. */
  #arrived = false;

  constructor(asPlatform: StartServices['asPlatform'], cache: TokenCache) {
    this.#asPlatform = asPlatform;
    this.#cache = cache;
  }

  get size(): number {
    return this.#sockets.agent.size + this.#sockets.watchdog.size;
  }

  /** Accepts an authenticated socket: assigns an epoch, adds it to the sockets of this process, and counts it as a heartbeat. */
  async accept(link: SocketLink): Promise<void> {
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
    socket.heartbeatAt = now;
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
    // A change during the steps above found no socket to close.
    await this.#recheck(socket);
    await this.#heartbeat(socket);
  }

  /** Sends the waiting commands of a device over its sockets. */
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

  /** Closes the socket of an agent that has a newer connection, here or in another process. */
  replaced(deviceId: string, role: SocketRole, epoch: number): void {
    const socket = this.#sockets[role].get(deviceId);
    if (!socket || socket.epoch >= epoch) return;
    this.#sockets[role].delete(deviceId);
    socket.close(CLOSE.REPLACED, 'replaced');
  }

  /** Checks the tenants of all sockets after a change of organizations or partners, once for changes in quick succession. */
  tenantsChanged(): void {
    if (this.size === 0) return;
    this.#tenants ??= setTimeout(() => {
      this.#tenants = undefined;
      void this.#closeInactive();
    }, TENANT_CHECK_DELAY_MS).unref();
  }

  /** Sends changed configuration versions to agents. They fetch the configuration, or get it with their next heartbeat. */
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

  /** Registers the process before its first socket, so that its connections are not mistaken for those of a dead process. */
  async #live({ services }: SocketLink): Promise<void> {
    this.#pingMs = variables.of(services.config).pingSeconds * 1000;
    if (performance.now() - this.#keptAt > NODE_INTERVAL_MS * 2) await this.#keep();
    this.#timer ??= setInterval(() => this.#tick(performance.now()), TICK_INTERVAL_MS).unref();
  }

  async #keep(): Promise<void> {
    this.#keptAt = performance.now();
    await this.#asPlatform((ctx) => keepNode(ctx, this.nodeId));
  }

  #tick(now: number): void {
    const pongMs = Math.min(PONG_TIMEOUT_MS, this.#pingMs);
    for (const socket of this.#all()) {
      if (socket.pingedAt > 0 && now - socket.pingedAt > pongMs && !socket.busy) socket.close(CLOSE.PONG, 'no pong');
      else if (now >= socket.nextPingAt) this.#ping(socket, now);
    }
    const due = now - this.#keptAt >= NODE_INTERVAL_MS;
    if (due) void this.#keep().catch(() => undefined);
    if (due || this.#arrived) void this.#closeInactive();
    this.#arrived = false;
  }

  #ping(socket: AgentSocket, now: number): void {
    socket.nextPingAt = now + this.#pingMs;
    socket.pingedAt = now;
    socket.send({ frame: 'ping' });
    if (socket.tokenEnds && socket.tokenEnds.getTime() <= Date.now()) void this.#recheck(socket);
    if (now - socket.heartbeatAt < PRESENCE_PINGS * this.#pingMs) return;
    void this.#heartbeat(socket).catch(() => undefined);
  }

  /** Counts the connection as a heartbeat without fields, which makes the device online and records its address. */
  async #heartbeat(socket: AgentSocket): Promise<void> {
    if (!socket.open) return;
    const { link, tokenHash, role, epoch } = socket;
    socket.heartbeatAt = performance.now();
    const { answer, commands } = await link.work(async (ctx) =>
      answerHeartbeat(ctx, await tokenByHash(ctx, tokenHash), { role }, epoch),
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
      const why = closeReason(fault);
      // A rotated token ends after ten minutes. Its agent has the new one and only has to reconnect.
      if (why?.reason === 'unauthenticated' && socket.tokenEnds) socket.close(CLOSE.MOVED, 'token replaced');
      // If the check itself failed, the socket stays open until the next check.
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

function closeReason(fault: unknown): { code: number; reason: string } | null {
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

/** Pauses the socket until it is accepted. If that fails, the agent is asked to reconnect. */
export function openAgentSocket(link: SocketLink): void {
  const hub = link.services.get(HUB);
  link.socket.pause();
  hub.accept(link).catch((fault: unknown) => {
    link.count('welcome_failed');
    const { code, reason } = closeReason(fault) ?? { code: CLOSE_TRY_AGAIN, reason: 'try again later' };
    link.socket.close(code, reason);
    link.socket.resume();
  });
}
