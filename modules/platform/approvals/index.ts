/** Approvals: what waits for the decision of a second person. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'approvals',
  title: 'Approvals',
  summary: 'What needs a second person: asked by one, decided by another, carried out once',
  requires: [],
  core: true,
  auditOnly: ['approval.request', 'approval.expire', 'approval.carry_out'],
  api,
});
