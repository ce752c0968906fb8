/** Roles and permissions: what users may do, and who may assign it. */
import { defineModule } from '#core';
import { api } from './api.ts';
import {
  catalogEntry,
  effectivePair,
  pair,
  roleClone,
  roleCreate,
  roleDetail,
  roleShape,
  roleUpdate,
} from './models/role.ts';
import { holderShape } from './models/role-holder.ts';
import type { RoleUsage } from './models/role-usage.ts';

declare module '#core/contract' {
  interface Slots {
    'roles.usage': RoleUsage;
  }
}

export default defineModule({
  name: 'roles',
  title: 'Roles and permissions',
  summary: 'Built-in and custom roles, what they grant, and who may assign them',
  requires: [],
  core: true,
  permissions: ['users:read', 'users:write', 'users:delete'],
  audits: ['role.create', 'role.update', 'role.delete', 'role.clone'],
  slots: ['roles.usage'],
  steadySlots: ['roles.usage'],
  schemas: {
    CatalogPermission: catalogEntry,
    EffectivePermission: effectivePair,
    Permission: pair,
    Role: roleShape,
    RoleClone: roleClone,
    RoleCreate: roleCreate,
    RoleDetail: roleDetail,
    RoleHolder: holderShape,
    RoleUpdate: roleUpdate,
  },
  api,
});
