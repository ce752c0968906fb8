/** Saved filters: writing and reading them. */
import {
  type Context,
  changesOf,
  errors,
  mustAccessOrg,
  mustReachWholeOrg,
  type PageQuery,
  page,
  type SortKey,
} from '#core';
import { type FilterChanges, type FilterCreate, SavedFilter } from '../models/saved-filter.ts';
import { evaluate, type Preview } from './previews.ts';
import { checkTree } from './trees.ts';

const ORDER = {
  name: 'filters-newest',
  keys: [
    { expression: 'saved_filters.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'saved_filters.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** Newest first; both forms include `total`. */
export async function listFilters(ctx: Context, query: PageQuery & { search?: string }) {
  const filters = SavedFilter.in(ctx);
  if (query.search) {
    const found = 'strpos(lower(??), lower(?)) > 0';
    filters.where((either) =>
      either
        .whereRaw(found, ['saved_filters.name', query.search ?? ''])
        .orWhereRaw(found, ['saved_filters.description', query.search ?? '']),
    );
  }
  const total = query.cursor === undefined ? undefined : await filters.clone().resultSize();
  const { data, pagination } = await page(filters, query, ORDER);
  return { data, total: total ?? (pagination as { total: number }).total, pagination };
}

/** Throws 404 for a filter out of reach. */
export async function readFilter(ctx: Context, id: string): Promise<SavedFilter> {
  const filter = await SavedFilter.in(ctx).findById(id);
  if (!filter) throw errors.NotFound('Filter not found');
  return filter;
}

/** The filters of these organizations that use the field, at any depth. */
export const filtersNaming = (ctx: Context, orgIds: readonly string[], field: string): Promise<SavedFilter[]> =>
  Promise.resolve(
    SavedFilter.in(ctx)
      .whereRaw('saved_filters.org_id = any(?::uuid[])', [orgIds as string[]])
      .whereRaw(`jsonb_path_exists(conditions, '$.** \\? (@.field == $field)', jsonb_build_object('field', ?::text))`, [
        field,
      ])
      .orderByRaw('lower(name), id'),
  );

/** Users of an organization always create in their own. Throws ORG_REQUIRED, and 403 for an organization out of reach. */
function ownerOf(ctx: Context, named: string | undefined): string {
  if (ctx.scope.kind === 'organization' && ctx.scope.orgId) return ctx.scope.orgId;
  if (!named) throw errors.OrgRequired('orgId is required for partner scope');
  mustAccessOrg(ctx, named);
  return named;
}

/** Throws VALIDATION_ERROR with the path of each fault in the conditions. */
export async function createFilter(ctx: Context, input: FilterCreate): Promise<SavedFilter> {
  const orgId = ownerOf(ctx, input.orgId);
  const { rows } = await ctx.sql('select from organizations where id = $1 and deleted_at is null', [orgId]);
  if (rows.length === 0) throw errors.NotFound('Organization not found');
  await checkTree(ctx, input.conditions, [orgId]);
  const filter = await SavedFilter.query(ctx.trx)
    .insert({ ...input, orgId, createdBy: ctx.actor.id })
    .returning('*');
  audit(ctx, 'filter.create', filter);
  return filter;
}

/**
 * All of the organization uses a filter: throws TARGET_OUT_OF_SCOPE to callers limited to sites or groups, except for the
 * filters that they made themselves.
 */
function mustOwn(ctx: Context, { createdBy }: SavedFilter): void {
  if (createdBy === null || createdBy !== ctx.actor.id) mustReachWholeOrg(ctx);
}

/** Throws NO_UPDATES, 404, TARGET_OUT_OF_SCOPE and VALIDATION_ERROR. */
export async function updateFilter(ctx: Context, id: string, changes: FilterChanges): Promise<SavedFilter> {
  const changedFields = Object.keys(changes);
  if (changedFields.length === 0) throw errors.NoUpdates();
  const filter = await SavedFilter.in(ctx).findById(id).forNoKeyUpdate();
  if (!filter) throw errors.NotFound('Filter not found');
  mustOwn(ctx, filter);
  if (changes.conditions) await checkTree(ctx, changes.conditions, [filter.orgId]);
  const updated = await SavedFilter.in(ctx)
    .where({ id })
    .patch({ ...changes, updatedAt: new Date() })
    .returning('*')
    .first();
  if (!updated) throw errors.NotFound('Filter not found');
  audit(ctx, 'filter.update', updated, { ...changesOf(filter, updated, changedFields) });
  return updated;
}

/** Returns the deleted filter. Groups that were created from it keep their copy of the conditions. */
export async function deleteFilter(ctx: Context, id: string): Promise<SavedFilter> {
  mustOwn(ctx, await readFilter(ctx, id));
  const filter = await SavedFilter.in(ctx).where({ id }).delete().returning('*').first();
  if (!filter) throw errors.NotFound('Filter not found');
  audit(ctx, 'filter.delete', filter);
  return filter;
}

/** POST /filters/{id}/preview. Throws VALIDATION_ERROR when a field of the filter no longer exists, such as a custom field. */
export async function previewFilter(ctx: Context, id: string, limit: number): Promise<{ data: Preview }> {
  const filter = await readFilter(ctx, id);
  const data = await evaluate(ctx, filter.conditions, limit);
  audit(ctx, 'filter.saved.preview', filter, { totalCount: data.totalCount, limit });
  return { data };
}

function audit(ctx: Context, action: string, filter: SavedFilter, details: Record<string, unknown> = {}): void {
  const { orgId, id, name } = filter;
  ctx.audit(action, { orgId, resourceId: id, resourceName: name, details });
}
