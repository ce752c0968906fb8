/** What requests for approval lose with the encryption key. */
import { defineContribution } from '#core';

export default defineContribution('secrets.values', {
  secret: 'encryptionKey',
  title: 'requests for approval that hold secrets; they are cancelled, and people ask again',
  count: `select count(*)::int as n from approval_requests where input ? '$sealed'`,
  remove: `update approval_requests set status = case when status = 'pending' then 'cancelled' else status end,
    decided_at = coalesce(decided_at, now()), concluded_at = now(), input = '{}', version = version + 1,
    outcome = case when status = 'approved' then 'failed' end,
    outcome_code = case when status = 'approved' then 'INPUT_LOST' end,
    decision_reason = coalesce(decision_reason, 'The encryption key of the server was lost') where input ? '$sealed'`,
});
