/** Bulk commands for more devices than one person may decide about. */
import { defineContribution } from '#core';
import { BULK_KIND, type KeptBulk } from '../services/bulk/approvals.ts';
import { sendApproved } from '../services/bulk/commands.ts';
import { summarizeBulk } from '../services/bulk/summaries.ts';

const DAY_MINUTES = 1440;

export default defineContribution('approvals.kind', {
  kind: BULK_KIND,
  title: 'Command for many devices',
  permission: 'devices:execute',
  askerPermission: 'devices:execute',
  expiresInMinutes: DAY_MINUTES,
  summarize: (ctx, { input }) => summarizeBulk(ctx, input as KeptBulk),
  onApproved: (ctx, { id, input, decidedBy }) =>
    sendApproved(ctx, input as KeptBulk, { approvalId: id, approvedBy: decidedBy }),
});
