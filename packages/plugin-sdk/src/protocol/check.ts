/** Judging calls of the host API, the same way on the server and in the test kit: known, well formed, granted. */
import { egressFault } from '../egress.ts';
import { HostError } from '../failures.ts';
import { MAX_KV_VALUE_BYTES } from '../limits.ts';
import { faultsOf, lazily } from '../manifest/check.ts';
import type { Manifest } from '../manifest/types.ts';
import { HOST_METHODS, type HostMethod, type HostMethodName, hostMethod } from './methods.ts';

const validators = new Map(Object.entries(HOST_METHODS).map(([name, { params }]) => [name, lazily(params)]));

export interface Grant {
  /** What people agreed to; never more than the manifest asks for. */
  granted: ReadonlySet<string>;
  manifest: Pick<Manifest, 'egress'>;
  /** Without secrets: it says where `fromConfig` leads. */
  config: Record<string, unknown>;
}

/** Throws UNKNOWN_METHOD, INVALID_PARAMS, PERMISSION_DENIED, EGRESS_DENIED and TOO_LARGE. */
export function mustAllow(name: string, params: unknown, { granted, manifest, config }: Grant): HostMethod {
  const method = hostMethod(name);
  const valid = validators.get(name)?.();
  if (!method || !valid) throw new HostError('UNKNOWN_METHOD', `There is no method ${name.slice(0, 64)}`);
  if (method.capability && !granted.has(method.capability)) {
    throw new HostError('PERMISSION_DENIED', `${name} needs ${method.capability}, which was not granted`);
  }
  if (!valid(params)) {
    const [fault] = faultsOf(valid.errors);
    throw new HostError('INVALID_PARAMS', `${name}: ${fault?.path || 'params'} ${fault?.message ?? 'is not valid'}`);
  }
  if (name === 'http.fetch') {
    const fault = egressFault((params as { url: string }).url, manifest.egress ?? [], config);
    if (fault) throw new HostError('EGRESS_DENIED', fault);
  }
  if (name === 'kv.set' || name === 'kv.cas') mustFit((params as { value: unknown }).value);
  return method;
}

function mustFit(value: unknown): void {
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_KV_VALUE_BYTES) {
    throw new HostError('TOO_LARGE', `A value has at most ${MAX_KV_VALUE_BYTES} bytes`);
  }
}

export type { HostMethodName };
