/** Refuses commands that agents carry out for a module where that module is switched off. */
import type { Context } from '#core';
import { CommandDisabled } from '../errors.ts';

/** Of these organizations the ones where the module is off that owns commands of this type, each with the error that says so. */
export function offForCommand(ctx: Context, orgIds: Iterable<string>, type: string): Map<string, Error> {
  const { modules } = ctx.services;
  const owner = modules.all.find(({ commands }) => commands?.includes(type))?.name;
  if (owner === undefined) return new Map();
  return new Map(
    [...new Set(orgIds)].flatMap((orgId): [string, Error][] => {
      const reason = modules.off(owner, { orgId });
      return reason ? [[orgId, CommandDisabled({ details: [{ module: owner, reason }] })]] : [];
    }),
  );
}
