/** Reading the audit trail; core writes and seals it. */
import { defineModule } from '#core';

export default defineModule({
  name: 'audit',
  title: 'Audit trail',
  summary: 'Who did what and when, and the proof that nobody altered it',
  requires: [],
  core: true,
  permissions: ['audit:read'],
  audits: [],
});
