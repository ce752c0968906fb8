/** The fields of payloads that their types declare secret: sealed in the row, opened when the command is given out, erased with the payload. */
import type { Context } from '#core';
import type { ClaimedCommand } from '../models/claimed-command.ts';
import { COMMAND_TYPES, ownerOf } from './command-types.ts';

/** The key of the payload that holds them. */
const SEALED = '$sealed';

const placeOf = (row: string) => ({ table: 'device_commands', column: 'payload', row });

/** Fields of the payload; none where the type declares none. */
export function secretFieldsOf(ctx: Context, type: string): readonly string[] {
  const known = Object.hasOwn(COMMAND_TYPES, type) ? COMMAND_TYPES[type] : undefined;
  return known?.secrets ?? OWN_SECRETS[type] ?? ownerOf(ctx, type)?.secrets?.[type] ?? [];
}
/** Of commands that this module queues beside the types that people send. */
export const OWN_SECRETS: Readonly<Record<string, readonly string[]>> = { script: ['content', 'args'] };

/** The payload as it is stored. @param id of the command: what is sealed cannot be opened for another */
export function sealPayload(
  ctx: Context,
  { id, type, payload }: { id: string; type: string; payload: Record<string, unknown> },
): Record<string, unknown> {
  const fields = secretFieldsOf(ctx, type).filter((field) => payload[field] !== undefined);
  if (fields.length === 0) return payload;
  const secret = JSON.stringify(Object.fromEntries(fields.map((field) => [field, payload[field]])));
  const open = Object.entries(payload).filter(([field]) => !fields.includes(field));
  return { ...Object.fromEntries(open), [SEALED]: ctx.services.seal.seal(secret, placeOf(id)) };
}

/**
 * The commands as they travel to the agent. One that cannot be opened, because the encryption key was lost, is left out and logged:
 * it ends by its deadlines.
 */
export function openPayloads<C extends Pick<ClaimedCommand, 'id' | 'payload'>>(
  ctx: Context,
  commands: readonly C[],
): C[] {
  return commands.flatMap((command) => {
    const { [SEALED]: sealed, ...open } = command.payload;
    if (typeof sealed !== 'string') return [command];
    try {
      const secret = JSON.parse(ctx.services.seal.open(sealed, placeOf(command.id))) as Record<string, unknown>;
      return [{ ...command, payload: { ...open, ...secret } }];
    } catch (err) {
      ctx.log.error({ err, commandId: command.id }, 'the payload of a command cannot be opened');
      return [];
    }
  });
}
