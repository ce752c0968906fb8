/** A plugin was disabled because it misbehaves; it stays disabled until it is enabled again. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Quarantined {
  installationId: string;
  partnerId: string | null;
  slug: string;
  reason: string;
}

export default defineEvent({
  summary: 'A plugin was switched off because it misbehaves',
  data: Joi.object<Quarantined>({
    installationId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    slug: Joi.string().required(),
    reason: Joi.string().required(),
  }),
  example: {
    installationId: '7c9e6679-7425-40de-944b-000000000001',
    partnerId: null,
    slug: 'asset-notes',
    reason: 'It failed five times in ten minutes',
  },
  webhook: { kind: 'plugin.quarantined', pick: ['installationId', 'slug', 'reason'] },
  notice: {
    tell: {
      type: 'system',
      priority: 'high',
      permission: 'organizations:write',
      render: ({ installationId, partnerId, slug, reason }) => ({
        title: `Plugin switched off: ${slug}`,
        message: `${reason}. It stays off until it is enabled again.`,
        link: `/plugins/${installationId}`,
        metadata: { installationId },
        dedupeKey: `plugin:${installationId}`,
        partnerId,
      }),
    },
  },
});
