/** What the operations of providers are given and must answer: the types, and the schemas that hosts and tests hold them to. */
import type { ProviderKind } from './manifest/types.ts';

export interface NotificationInput {
  /** The same for repeats. */
  id: string;
  title: string;
  message: string;
  severity: 'critical' | 'high' | 'medium' | 'low' | 'info';
  url: string | null;
  /** What it is about: `kind`, `alertId`, `organization`, `device`, `at` for messages of alerts. */
  data: Record<string, unknown>;
  /** How the channel was set up, by the provider's `inputSchema`. */
  settings?: Record<string, unknown>;
}
export interface NotificationResult {
  delivered: boolean;
  /** The other side's name for it. */
  reference?: string | null;
  detail?: string | null;
}
export interface CollectInput {
  /** The occurrence; the same for repeats. */
  id: string;
  at: string;
  fields: string[];
}
export interface Collected {
  values: { deviceId: string; fields: Record<string, unknown> }[];
}
export interface ReportInput {
  input: Record<string, unknown>;
}
export interface ReportResult {
  columns: { key: string; label: string }[];
  rows: Record<string, unknown>[];
}
export interface TicketInput {
  /** The same for repeats: a ticket is opened once for it. */
  id: string;
  title: string;
  body: string;
  severity: 'critical' | 'high' | 'medium' | 'low' | 'info';
  /** The other side's company, one of `listCompanies`. */
  companyId: string | null;
  deviceId: string | null;
  data: Record<string, unknown>;
}
export interface TicketChange {
  /** The same for repeats. */
  id: string;
  externalId: string;
  status?: string | null;
  comment?: string | null;
}
export interface TicketResult {
  externalId: string;
  url?: string | null;
  status?: string | null;
}
export interface TestResult {
  ok: boolean;
  detail?: string | null;
}

const text = (maxLength: number) => ({ type: 'string', maxLength });
const optional = (maxLength: number) => ({ type: ['string', 'null'], maxLength });
const object = (required: string[], properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const row = { type: 'object', maxProperties: 200 };
const tested = object(['ok'], { ok: { type: 'boolean' }, detail: optional(2_000) });
const ticket = object(['externalId'], {
  externalId: text(200),
  url: optional(2_000),
  status: optional(100),
});
const sent = object(['delivered'], {
  delivered: { type: 'boolean' },
  reference: optional(500),
  detail: optional(2_000),
});

/** JSON Schemas of results, by kind and operation. */
export const RESULT_SCHEMAS: Record<ProviderKind, Record<string, object>> = {
  notificationChannel: { send: sent, test: sent },
  psaAdapter: {
    test: tested,
    createTicket: ticket,
    updateTicket: ticket,
    getTicket: ticket,
    listCompanies: object(['companies'], {
      companies: {
        type: 'array',
        maxItems: 5_000,
        items: object(['externalId', 'name'], { externalId: text(200), name: text(500) }),
      },
    }),
  },
  reportType: {
    build: object(['columns', 'rows'], {
      columns: {
        type: 'array',
        maxItems: 100,
        items: object(['key', 'label'], { key: text(64), label: text(200) }),
      },
      rows: { type: 'array', maxItems: 10_000, items: row },
    }),
  },
  collector: {
    collect: object(['values'], {
      values: {
        type: 'array',
        maxItems: 1_000,
        items: object(['deviceId', 'fields'], {
          deviceId: { type: 'string', format: 'uuid' },
          fields: { ...row, maxProperties: 50 },
        }),
      },
    }),
  },
  aiTool: { run: row },
};
