/** Which test files a run takes, where none are named. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, ROOT } from './times.ts';

/** The program on devices, with its own tests, and what it shares with the server. */
const AGENT = ['agent', 'packages/agent-protocol'];
const AGENT_TESTS = 'agent/test/**';
const AGENT_PASSED = join(CACHE, 'agent-passed');

/** A file that uses neither the kit nor a Redis of its own asks no server. */
const USES_SERVER = /from '#test|kit\/|fixtures\/|redis-server/;
/** Parts of the repository whose files ask the database or Redis for what is theirs to promise. */
const SERVER_PARTS = /^(core|workers|app)\/|^test\/(contract|end-to-end)\//;
/** What a test of a module says when it depends on the server itself: plans, locks, waits, pools, several processes, Redis. */
const DEPENDS_ON_SERVER =
  /\b(explain|pg_\w+|for update|skip locked|advisory|DATABASE_POOL_SIZE|joinTestPlatform|REDIS_URL|hasRedisServer)\b/i;
/** Files that bring a server of their own, or use one only to start. */
const OWN_SERVER = [
  'core/database/test/embedded-server.test.ts',
  'test/contract/foreign-clients.test.ts',
  'test/contract/ops.test.ts',
  'test/end-to-end/document-proxy.test.ts',
  'test/end-to-end/first-run.test.ts',
  'test/end-to-end/module-packages.test.ts',
];

/** Files whose outcome may differ between PostgreSQL or Redis servers: see the rules above. */
export function filesThatDependOnServer(): string[] {
  const all = globSync('**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules', 'packages/*/template'] });
  return all.sort().filter((file) => {
    if (OWN_SERVER.includes(file)) return false;
    const text = readFileSync(join(ROOT, file), 'utf8');
    return USES_SERVER.test(text) && (SERVER_PARTS.test(file) || DEPENDS_ON_SERVER.test(text));
  });
}

/** A digest of the agent's files; null where git does not know them. */
function agentDigest(): string | null {
  const git = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...AGENT];
  const { status, stdout } = spawnSync('git', git, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) return null;
  const hash = createHash('sha256');
  for (const file of [...new Set(stdout.split('\0'))].sort()) {
    if (file && existsSync(join(ROOT, file))) hash.update(file).update(readFileSync(join(ROOT, file)));
  }
  return hash.digest('hex');
}

export interface Selection {
  /** For ava. */
  args: string[];
  /** What was left out, and why. */
  note?: string;
  /** Call it when the run has passed. */
  passed(): void;
}

/**
 * @param args of `npm test`: file patterns and ava's options; `--all` takes also the agent's own tests where neither the agent
 *   nor its protocol has changed since they passed; `--server` takes only what may differ between database servers
 */
export function select(args: string[]): Selection {
  const given = args.filter((arg) => arg !== '--all' && arg !== '--server');
  const passed = () => undefined;
  if (args.includes('--server')) return { args: [...given, ...filesThatDependOnServer()], passed };
  if (given.some((arg) => !arg.startsWith('-'))) return { args: given, passed };
  const digest = agentDigest();
  const before = existsSync(AGENT_PASSED) ? readFileSync(AGENT_PASSED, 'utf8') : '';
  if (digest && digest === before && !args.includes('--all')) {
    const note = `The agent's own tests are left out: nothing in ${AGENT.join(' and ')} has changed since they passed. They run with --all.`;
    return { args: [...given, '**/*.test.ts', `!${AGENT_TESTS}`], note, passed };
  }
  return {
    args: given,
    passed() {
      if (!digest) return;
      mkdirSync(CACHE, { recursive: true });
      writeFileSync(AGENT_PASSED, digest);
    },
  };
}
