/** Alerts as incidents of PagerDuty (Events API v2): all messages of an alert update one incident. */
import Joi from 'joi';
import { cutText, oneLine } from '#core';
import type { ChannelAdapter } from '../../models/adapter.ts';
import { type MessageKind, type Outgoing, SEVERITIES, type Severity } from '../../models/message.ts';
import { sendJson } from './requests.ts';

type Level = 'critical' | 'error' | 'warning' | 'info';
interface Config {
  routingKey: string;
  severityMap?: Partial<Record<Severity, Level>>;
}
const URL_OF_EVENTS = 'https://events.pagerduty.com/v2/enqueue';
const LEVELS: Record<Severity, Level> = {
  ...{ critical: 'critical', high: 'error', medium: 'warning', low: 'info', info: 'info' },
};
const ACTIONS: Partial<Record<MessageKind, 'acknowledge' | 'resolve'>> = {
  ...{ acknowledged: 'acknowledge', resolved: 'resolve' },
};

export const pagerduty: ChannelAdapter = {
  type: 'pagerduty',
  title: 'PagerDuty',
  config: Joi.object<Config, true>({
    routingKey: Joi.string()
      .pattern(/^[A-Za-z0-9]{32}$/)
      .required(),
    severityMap: Joi.object(
      Object.fromEntries(SEVERITIES.map((name) => [name, Joi.string().valid('critical', 'error', 'warning', 'info')])),
    ),
  }),
  secrets: ['routingKey'],
  destination: ['routingKey'],
  async send(services, config: Config, message) {
    const action = ACTIONS[message.kind] ?? 'trigger';
    const outcome = await sendJson(services, URL_OF_EVENTS, JSON.stringify(eventOf(config, message, action)));
    // A test leaves no incident behind.
    if (message.kind === 'test' && outcome.success) {
      await sendJson(services, URL_OF_EVENTS, JSON.stringify(eventOf(config, message, 'resolve')));
    }
    return outcome;
  },
};

function eventOf({ routingKey, severityMap }: Config, message: Outgoing, action: string) {
  const { id, kind, alertId, severity, title, organization, device, at, url } = message;
  const event = {
    routing_key: routingKey,
    event_action: action,
    // A digest is about many alerts.
    dedup_key: kind === 'digest' ? id : alertId,
  };
  if (action !== 'trigger') return event;
  return {
    ...event,
    client: 'Quartermaster',
    ...(url ? { links: [{ href: url, text: 'Open in Quartermaster' }] } : {}),
    payload: {
      summary: cutText(oneLine(title), 1024),
      source: oneLine(device ?? organization ?? 'Quartermaster'),
      severity: severityMap?.[severity] ?? LEVELS[severity],
      timestamp: at,
      ...(organization ? { group: oneLine(organization) } : {}),
      custom_details: { message: cutText(message.message, 4000), kind },
    },
  };
}
