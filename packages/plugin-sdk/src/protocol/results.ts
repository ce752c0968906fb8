/** Holding what operations of providers answer to the schemas of their kind. */
import { type Fault, faultsOf, lazily } from '../manifest/check.ts';
import type { ProviderKind } from '../manifest/types.ts';
import { RESULT_SCHEMAS } from '../providers.ts';

const validators = new Map<string, ReturnType<typeof lazily>>();
for (const [kind, operations] of Object.entries(RESULT_SCHEMAS)) {
  for (const [operation, schema] of Object.entries(operations)) validators.set(`${kind}/${operation}`, lazily(schema));
}

/** What is wrong with a result; empty where nothing is. */
export function checkResult(kind: ProviderKind, operation: string, result: unknown): Fault[] {
  const valid = validators.get(`${kind}/${operation}`)?.();
  if (!valid) return [{ path: '', message: `${kind} has no operation ${operation}` }];
  return valid(result) ? [] : faultsOf(valid.errors);
}
