/** Answers that last: each ends when its caller may no longer have it, and all of them when the server stops. */
import type { Readable } from 'node:stream';
import { sha256Hex } from '../../auth/opaque-tokens.ts';
import type { Scope } from '../../context/index.ts';
import { type AccessServices, type Asking, type Caller, check } from '../access.ts';

/** A session or key may also expire, which no event announces. */
const EVERY_MS = 5000;

interface Live {
  admitted(): Promise<boolean>;
  end(): void;
}

export class LiveStreams {
  private readonly open = new Map<Readable, Live>();
  private timer: NodeJS.Timeout | undefined;

  /** `end` must let the stream come to its end; it is forgotten once it has closed. */
  add(stream: Readable, live: Live): void {
    this.open.set(stream, live);
    stream.once('close', () => {
      this.open.delete(stream);
      if (this.open.size === 0) clearInterval(this.timer);
    });
    if (this.open.size === 1) this.timer = setInterval(() => void this.recheck(), EVERY_MS).unref();
  }

  /** Asks for each stream whether its caller would be let in now. Who cannot be asked about stays until the next time. */
  async recheck(): Promise<void> {
    await Promise.all(
      [...this.open.values()].map(async ({ admitted, end }) => {
        if (!(await admitted().catch(() => true))) end();
      }),
    );
  }

  endAll(): void {
    for (const { end } of this.open.values()) end();
  }
}

/** Whether a caller that was let in would be let in again, and would reach the same. Counts no use of a key. */
export async function stillAdmitted(
  services: AccessServices,
  asking: Asking,
  caller: Caller,
  reach: (scope: Scope) => Scope,
): Promise<boolean> {
  const { access } = asking.route;
  if (!('permission' in access)) return true;
  const key = caller.actor.kind === 'api_key' ? await services.principals.byKeyHash(keyHash(asking)) : null;
  if (key && (key.status !== 'active' || key.expired)) return false;
  const session = caller.actor.sessionId ? await services.principals.bySession(caller.actor.sessionId) : null;
  const principal = key ?? session;
  if (!principal) return false;
  try {
    check(services, asking.route, access, principal);
    return JSON.stringify(reach(principal.scope)) === JSON.stringify(caller.scope);
  } catch {
    return false;
  }
}

const keyHash = ({ headers }: Asking) => sha256Hex(headers['x-api-key'] ?? '');
