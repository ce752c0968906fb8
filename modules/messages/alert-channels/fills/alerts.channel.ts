/** The channel types that come with the product. */
import { defineContribution } from '#core';
import { slack, teams } from '../services/adapters/chat.ts';
import { email } from '../services/adapters/email.ts';
import { pagerduty } from '../services/adapters/pagerduty.ts';
import { sms } from '../services/adapters/sms.ts';
import { webhook } from '../services/adapters/webhook.ts';

export default [email, slack, teams, webhook, pagerduty, sms].map((value) =>
  defineContribution('alerts.channel', value),
);
