/** An agent on a real socket that carries out commands as a test's script says. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { FakeAgent, FakeCommand } from './fake-agent.ts';

export interface Said {
  status?: 'completed' | 'failed' | 'timeout';
  error?: string;
  result?: unknown;
}
/** The agent's result of a command; undefined leaves the command without an answer. */
export type Script = (
  command: FakeCommand & { executionTimeoutSeconds: number },
) => Promise<Said | undefined> | Said | undefined;
export interface LiveAgent {
  /** Commands in the order in which they came. */
  seen: FakeCommand[];
  /** The script from now on. */
  script: Script;
  /** Resolves with the first command of this type, now or later. */
  next(type: string): Promise<FakeCommand>;
  say(commandId: string, said: Said): void;
  close(): Promise<void>;
}

/** Connects to the server at `url`; resolves when the server has accepted the agent. */
export async function connectAgent(url: string, agent: FakeAgent, script: Script): Promise<LiveAgent> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1/agent-ws/${agent.agentId}/ws`, {
    headers: { authorization: `Bearer ${agent.token}` },
  });
  const send = (frame: object) => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame));
  };
  let watchers: (() => void)[] = [];
  const connected = Promise.withResolvers<void>();
  const live: LiveAgent = {
    seen: [],
    script,
    next: (type) =>
      new Promise((resolve) => {
        const watch = () => {
          const found = live.seen.find((command) => command.type === type);
          if (!found) return;
          watchers = watchers.filter((one) => one !== watch);
          resolve(found);
        };
        watchers.push(watch);
        watch();
      }),
    say: (commandId, { status = 'completed', ...said }) =>
      send({ frame: 'command_result', commandId, status, ...said }),
    async close() {
      if (socket.readyState === socket.CLOSED) return;
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('error', (fault) => connected.reject(fault));
  socket.on('message', async (data) => {
    const { frame, ...body } = JSON.parse(data.toString());
    if (frame === 'ping') send({ frame: 'pong' });
    if (frame === 'connected') connected.resolve();
    if (frame !== 'command') return;
    send({ frame: 'ack', commandId: body.id });
    live.seen.push(body);
    for (const watch of [...watchers]) watch();
    const said = await live.script(body);
    if (said) live.say(body.id, said);
  });
  await connected.promise;
  return live;
}
