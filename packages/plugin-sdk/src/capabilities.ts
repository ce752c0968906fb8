/** Capabilities: what a plugin may be granted, in the words that people read before they grant it. */

export interface Capability {
  label: string;
  description: string;
  /** Stands out where people are asked: it changes things, or reaches beyond this installation. */
  destructive: boolean;
}

export const CAPABILITIES = {
  'devices:read': {
    label: 'Read devices',
    description: 'See the devices of the organization, what they are and how they are, and hear what happens to them',
    destructive: false,
  },
  'devices:tag': {
    label: 'Tag devices',
    description: 'Add tags to devices and remove them; groups, policies and automations may go by tags',
    destructive: true,
  },
  'alerts:read': { label: 'Read alerts', description: 'See alerts and hear of them', destructive: false },
  'alerts:create': { label: 'Raise alerts', description: 'Raise alerts about devices', destructive: false },
  'alerts:update': {
    label: 'Change alerts',
    description: 'Acknowledge and resolve alerts',
    destructive: true,
  },
  'tickets:read': { label: 'Read tickets', description: 'See tickets and hear of them', destructive: false },
  'tickets:write': { label: 'Write tickets', description: 'Open, change and close tickets', destructive: true },
  'scripts:execute': {
    label: 'Run scripts on devices',
    description: 'Run scripts of the library on devices. The operator must have verified the plugin',
    destructive: true,
  },
  'customFields:read': {
    label: 'Read custom fields',
    description: 'See the custom fields of devices and their values',
    destructive: false,
  },
  'customFields:write': {
    label: 'Write custom fields',
    description: 'Change the values of custom fields of devices',
    destructive: true,
  },
  'notifications:send': {
    label: 'Send notifications',
    description: 'Send notifications to users of the organization',
    destructive: false,
  },
  'reports:register': {
    label: 'Offer reports',
    description: 'Offer types of reports that users may run',
    destructive: false,
  },
  kv: { label: 'Keep data', description: 'Keep data of its own in this installation', destructive: false },
  http: {
    label: 'Call other servers',
    description: 'Send data to the servers that the plugin names, and receive from them',
    destructive: true,
  },
  'secrets:config': {
    label: 'Read its secrets',
    description: 'Read the secret values of its own configuration, such as keys of other services',
    destructive: false,
  },
} as const satisfies Record<string, Capability>;

export type CapabilityName = keyof typeof CAPABILITIES;
export const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as CapabilityName[];

const BY_FAMILY: Record<string, CapabilityName | null> = {
  alert: 'alerts:read',
  ticket: 'tickets:read',
  // What other plugins of the organization tell.
  plugin: null,
};

/** What hearing of an event takes; null for nothing. What is not about alerts or tickets is about devices. */
export function capabilityForEvent(kind: string): CapabilityName | null {
  const [family = ''] = kind.split('.');
  return Object.hasOwn(BY_FAMILY, family) ? (BY_FAMILY[family] ?? null) : 'devices:read';
}
