/** A plugin sends a notification to users. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Notified {
  installationId: string;
  slug: string;
  title: string;
  message: string;
}

export default defineEvent({
  summary: 'A plugin has something to say',
  data: Joi.object<Notified>({
    installationId: Joi.string().uuid().required(),
    slug: Joi.string().required(),
    title: Joi.string().allow('').required(),
    message: Joi.string().allow('').required(),
  }),
  example: {
    installationId: '7c9e6679-7425-40de-944b-000000000001',
    slug: 'asset-notes',
    title: 'Notes without a device',
    message: 'Three notes name a device that no longer exists.',
  },
  notice: {
    tell: {
      type: 'system',
      priority: 'normal',
      permission: 'devices:read',
      render: ({ installationId, slug, title, message }) => ({
        title: `${slug}: ${title}`,
        message,
        link: `/plugins/${installationId}`,
        metadata: { installationId },
        dedupeKey: `plugin:${installationId}:${title}`,
      }),
    },
  },
});
