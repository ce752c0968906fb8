/** What an enrolled agent must remember: who it is, its tokens and its settings, in one file with mode 0600. */
import { chmod, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AgentConfig, Enrolled, TokenSet } from '#agent-protocol';
import { ensurePrivateFolder, writeAtomically } from './atomic-file.ts';

export interface AgentState {
  version: 1;
  server: string;
  agentId: string;
  deviceId: string;
  orgId: string;
  siteId: string | null;
  enrolledAt: string;
  tokens: TokenSet;
  /** Tokens of a rotation that the server has not confirmed yet; on disk before the confirmation is sent. */
  pendingTokens?: TokenSet;
  config: AgentConfig;
  configVersion?: number | string;
  /** Keys that may sign programs; pinned at the enrollment, and changed only by a list that one of them signed. */
  manifestTrustKeys: string[];
  /** When the list that named them was issued; absent for the keys of the enrollment. */
  trustListIssuedAt?: string;
  autoUpdateEnabled: boolean;
}

/** Where the state lives: a file for the agent, memory for a simulated one. */
export interface StateStore {
  read(): Promise<AgentState | undefined>;
  write(state: AgentState): Promise<void>;
  remove(): Promise<void>;
}

/** The state that follows from a successful enrollment. */
export function stateFrom(server: string, answer: Enrolled): AgentState {
  return {
    version: 1,
    server,
    agentId: answer.agentId,
    deviceId: answer.deviceId,
    orgId: answer.orgId,
    siteId: answer.siteId,
    enrolledAt: new Date().toISOString(),
    tokens: tokensOf(answer),
    config: answer.config ?? { heartbeatIntervalSeconds: 60, metricsCollectionIntervalSeconds: 30 },
    manifestTrustKeys: answer.manifestTrustKeys ?? [],
    autoUpdateEnabled: true,
  };
}

/** Only the three tokens of an answer that may carry more. */
export function tokensOf(answer: TokenSet): TokenSet {
  const { authToken, watchdogAuthToken } = answer;
  return { authToken, watchdogAuthToken };
}

/** State in a file. Reading throws a plain sentence when the file is damaged, and narrows a mode that is too wide. */
export function fileState(path: string): StateStore {
  return {
    async read() {
      try {
        const text = await readFile(path, 'utf8');
        if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
        return parseState(text, path);
      } catch (fault) {
        // Also where it goes away between two of these steps: an agent that removes itself is watched meanwhile.
        if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw fault;
      }
    },
    async write(state) {
      await ensurePrivateFolder(dirname(path));
      await writeAtomically(path, `${JSON.stringify(state, null, 2)}\n`);
    },
    async remove() {
      await rm(path, { force: true });
    },
  };
}

/** State in memory, for agents that live as long as their process. */
export function memoryState(initial?: AgentState): StateStore {
  let current = initial;
  return {
    read: async () => current,
    write: async (state) => {
      current = state;
    },
    remove: async () => {
      current = undefined;
    },
  };
}

function parseState(text: string, path: string): AgentState {
  const damaged = new Error(`${path} is not a state file of this agent; restore it or enroll again.`);
  let state: Partial<AgentState>;
  try {
    state = JSON.parse(text);
  } catch {
    throw damaged;
  }
  if (state?.version !== 1 || !state.server || !state.agentId || !state.tokens?.authToken || !state.config)
    throw damaged;
  return state as AgentState;
}
