/** Actions, providers and collectors: what they are given and what may come of them. */
import {
  checkForm,
  checkResult,
  declaredFields,
  type FormSchema,
  HostError,
  type Manifest,
  type ProviderKind,
} from '@quartermaster/plugin-sdk/host';
import type { HostParts } from './plugin-host.ts';
import type { Devices } from './world/devices.ts';

/** Throws INVALID_PARAMS with the path of the first fault. */
export function mustFitForm(form: FormSchema | undefined, input: object): void {
  const [fault] = checkForm(form, input);
  if (fault) throw new HostError('INVALID_PARAMS', `input.${fault.path} ${fault.message}`);
}

export function targetOf({ org, world }: HostParts, type: 'device' | 'alert' | 'org', id: string | undefined) {
  if (type === 'org') return { type, id: org.id };
  if (!id) throw new HostError('INVALID_PARAMS', `targetId is required: the ${type}`);
  if (type === 'device') return { type, id: world.devices.mustExist(id).id };
  if (!world.alerts) throw new HostError('INVALID_PARAMS', 'This server has no alerts');
  return { type, id: world.alerts.get(id).id };
}

/** Throws where the manifest does not offer it. */
export function providerOf({ providers = [] }: Manifest, kind: ProviderKind, key: string, operation: string) {
  const found = providers.find((one) => one.kind === kind && one.key === key);
  const handler = found && Object.hasOwn(found.handlers, operation) ? found.handlers[operation] : undefined;
  if (!handler) throw new Error(`The manifest offers no ${operation} of ${kind} ${key}`);
  return { handler, form: found?.inputSchema };
}

export function resultFault(kind: ProviderKind, operation: string, result: unknown): string | null {
  const [fault] = checkResult(kind, operation, result);
  return fault ? `The answer of ${operation} is not valid: ${fault.path} ${fault.message}` : null;
}

/** Writes what a collector found; returns what was refused of it. The result was checked. */
export function writeCollected(devices: Devices, fields: readonly string[], result: unknown): string[] {
  const { values } = result as { values: { deviceId: string; fields: Record<string, unknown> }[] };
  return values.flatMap(({ deviceId, fields: found }) => {
    const { declared, others } = declaredFields(found, fields);
    const left =
      others.length > 0 ? [`Fields that its manifest does not name were left out: ${others.join(', ')}`] : [];
    try {
      return [...left, ...devices.write(deviceId, declared).map((message) => `${deviceId}: ${message}`)];
    } catch (error) {
      return [...left, `${deviceId}: ${(error as Error).message}`];
    }
  });
}
