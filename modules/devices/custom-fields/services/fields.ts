/** Definitions of custom fields: list, read, create, change and delete. */
import { isDeepStrictEqual } from 'node:util';
import {
  type Context,
  changesOf,
  databaseErrorOf,
  errors,
  mustAccessOrg,
  mustWriteFor,
  ownerOf,
  type PageQuery,
  page,
  type SortKey,
} from '#core';
import { FieldLimit, ImmutableField, KeyTaken } from '../errors.ts';
import { CustomField, type FieldCreate, type FieldType, type FieldUpdate, stored } from '../models/custom-field.ts';
import { checkDefinition, checkMap, takenAway } from './definition.ts';
import { awaitWriters } from './turns.ts';
import { misfitsOf, placeOf, referencesOf, usageOf } from './usage.ts';
import { applyingTo, living } from './visible.ts';

const ORDER = {
  name: 'custom-fields',
  keys: [
    { expression: 'custom_fields.sort_order', direction: 'asc', type: 'bigint' },
    { expression: 'lower(custom_fields.name)', direction: 'asc', type: 'text' },
    { expression: 'custom_fields.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

export interface FieldQuery extends PageQuery {
  orgId?: string;
  type?: FieldType;
  deviceType?: string;
  search?: string;
}

const show = (ctx: Context, { deletedAt: _, ...field }: CustomField, orgId?: string) => ({
  ...field,
  inherited: field.partnerId !== null && (orgId !== undefined || ctx.scope.kind === 'organization'),
});

export function listFields(ctx: Context, query: FieldQuery) {
  const { orgId, type, deviceType, search } = query;
  const fields = living(ctx);
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    applyingTo(fields, orgId);
  }
  if (type) fields.where({ type });
  if (deviceType) fields.whereRaw('(device_types is null or ? = any(device_types))', [deviceType]);
  if (search) fields.whereRaw("strpos(lower(name || ' ' || field_key), lower(?)) > 0", [search]);
  return page(fields, query, ORDER, (field) => show(ctx, field, orgId));
}

async function mustExist(ctx: Context, id: string): Promise<CustomField> {
  const field = await living(ctx).findById(id);
  if (!field) throw errors.NotFound('Custom field not found');
  return field;
}

export async function readField(ctx: Context, id: string) {
  const field = await mustExist(ctx, id);
  return { data: { ...show(ctx, field), usageCount: await usageOf(ctx, field) } };
}

/** Throws KEY_TAKEN and FIELD_LIMIT_REACHED from constraints of the database, which also decide between concurrent requests. */
export async function createField(ctx: Context, input: FieldCreate) {
  const owner = ownerOf(ctx, input);
  checkDefinition({ ...input, options: input.options ?? {} });
  const field = await CustomField.query(ctx.trx)
    .insert({ ...stored(input), ...owner, createdBy: ctx.actor.id })
    .returning('*')
    .catch(refused);
  audit(ctx, 'custom_field.create', field, { fieldKey: field.fieldKey, type: field.type });
  return { data: show(ctx, field) };
}

/** Throws NO_UPDATES, IMMUTABLE_FIELD, and IN_USE for removed choices in use that `mapTo` does not name. */
export async function updateField(
  ctx: Context,
  id: string,
  { force = false, mapTo = {}, fieldKey, type, ...changes }: FieldUpdate,
) {
  if (fieldKey !== undefined || type !== undefined) throw ImmutableField();
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  mustWriteFor(ctx, await mustExist(ctx, id));
  const field = await living(ctx).findById(id).forNoKeyUpdate();
  if (!field) throw errors.NotFound('Custom field not found');
  checkDefinition({ ...field, ...changes });
  const gone = takenAway(field, changes);
  checkMap(mapTo, gone, changes.options ?? {});
  const lost = gone.filter((value) => !Object.hasOwn(mapTo, value));
  if (!force && lost.length > 0) {
    const devices = await usageOf(ctx, field, lost);
    if (devices > 0)
      throw errors.InUse({ message: 'Devices have values that are removed choices', details: [{ devices }] });
  }
  const updated = await living(ctx)
    .where({ id })
    .patch({ ...stored(changes), updatedAt: new Date() })
    .returning('*')
    .first();
  if (!updated) throw errors.NotFound('Custom field not found');
  if (!isDeepStrictEqual(defaultOf(field), defaultOf(updated))) await tellDefault(ctx, updated);
  const maps = Object.keys(mapTo).length > 0;
  if (maps) ctx.addJob('custom-fields/map-choices', { fieldId: id, mapTo }, { orgId: null });
  const shown = show(ctx, updated);
  const changed = changesOf(show(ctx, field), shown, Object.keys(changes));
  audit(ctx, 'custom_field.update', updated, { ...changed, ...(maps ? { mapTo } : {}) });
  return { data: { ...shown, invalidCount: await misfitsOf(ctx, updated) } };
}

/** What counts for devices without a value of their own, and for which of them. */
const defaultOf = ({ defaultValue, deviceTypes }: CustomField) =>
  defaultValue === null ? null : [defaultValue, deviceTypes];

async function tellDefault(ctx: Context, field: CustomField): Promise<void> {
  const place = await placeOf(ctx, field);
  for (const references of ctx.contributions('custom-fields.references')) await references.defaultChanged?.(ctx, place);
}

export interface Removal {
  /** The key of the field; required when devices have values of it. */
  confirm?: string;
  /** Deletes the field even if rules refer to it, which fail from then on. */
  force: boolean;
}

/** Hides the field and its values at once; a job removes the values and frees the key. Throws IN_USE. */
export async function deleteField(ctx: Context, id: string, { confirm, force }: Removal) {
  const field = await mustExist(ctx, id);
  mustWriteFor(ctx, field);
  await awaitWriters(ctx, field);
  const devices = await usageOf(ctx, field);
  if (devices > 0 && confirm !== field.fieldKey) {
    throw errors.InUse({
      message: `Devices hold values of this field: confirm with ${field.fieldKey}`,
      details: [{ devices }],
    });
  }
  const references = await referencesOf(ctx, field);
  if (references.length > 0 && !force)
    throw errors.InUse({ message: 'Rules refer to this field', details: [{ references }] });
  const removed = await living(ctx).where({ id }).patch({ deletedAt: new Date() });
  if (removed === 0) throw errors.NotFound('Custom field not found');
  ctx.addJob('custom-fields/purge-values', { fieldId: id }, { orgId: null, key: `custom-fields-purge:${id}` });
  const named = references.length > 0 ? { references } : {};
  audit(ctx, 'custom_field.delete', field, { fieldKey: field.fieldKey, clearedDevices: devices, ...named });
  return { success: true, clearedDevices: devices };
}

function refused(error: unknown): never {
  const constraint = databaseErrorOf(error)?.constraint ?? '';
  if (constraint === 'custom_fields_limit') throw FieldLimit();
  if (/^custom_fields_(org|partner|family)_key$/.test(constraint)) throw KeyTaken({ details: [{ path: 'fieldKey' }] });
  if (/_id_fkey$/.test(constraint)) throw errors.NotFound('The owner does not exist');
  throw error;
}

function audit(ctx: Context, action: string, field: CustomField, details: Record<string, unknown>): void {
  const { orgId, partnerId, id, name } = field;
  const owner = partnerId ? { orgId, partnerId } : { orgId };
  ctx.audit(action, { ...owner, resourceId: id, resourceName: name, details });
}
