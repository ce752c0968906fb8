/** The forms of `quartermaster audit`. */
import { adoptChain } from '../../core/audit/adopt.ts';
import { type Input, textOf, UsageError } from '../cli/command.ts';
import { exportToFile } from './export.ts';
import { printKeys, rotateSigningKey } from './keys.ts';
import { type TrailStore, withTrail } from './open-trail.ts';
import { printVerdict, verifyChains } from './verify.ts';

/** Returns the exit code: 1 when a chain has a fault. */
export function auditCommand(input: Input): Promise<number> {
  const [form, ...rest] = input.positionals;
  const run = FORMS[form ?? ''];
  if (!run || rest.length > 0)
    throw new UsageError(form ? `"${[form, ...rest].join(' ')}" is not a form of audit.` : '');
  const prepared = run(input);
  return withTrail(prepared);
}

type Prepared = (store: TrailStore) => Promise<number>;

/** Each checks its options before the database is opened. */
const FORMS: Record<string, (input: Input) => Prepared> = {
  verify(input) {
    const owner = textOf(input, 'owner');
    const period = { from: timeOf(input, 'from'), to: timeOf(input, 'to') };
    return async (store) => ((await verifyChains(store, owner, period)) ? 0 : 1);
  },
  'public-key': () => done(printKeys),
  'rotate-key': () => done(rotateSigningKey),
  export(input) {
    const owner = required(input, 'owner');
    const out = required(input, 'out');
    return done((store) => exportToFile(store, owner, out));
  },
  adopt(input) {
    const owner = required(input, 'owner');
    return async ({ inTransaction }) => {
      const verdict = await inTransaction((trail) => adoptChain(trail, owner));
      printVerdict(verdict);
      return verdict.ok ? 0 : 1;
    };
  },
};

const done =
  (run: (store: TrailStore) => Promise<void>): Prepared =>
  async (store) => {
    await run(store);
    return 0;
  };

function required(input: Input, option: string): string {
  const value = textOf(input, option);
  if (!value) throw new UsageError(`--${option} is missing.`);
  return value;
}

function timeOf(input: Input, option: string): Date | undefined {
  const text = textOf(input, option);
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UsageError(`${text} is not a time; write it as 2026-01-31T12:00:00Z`);
  return time;
}
