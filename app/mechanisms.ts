/** Mechanisms that many modules share, for the catalog: each is built once, and a second implementation is a defect. */

export interface Mechanism {
  name: string;
  offers: string;
  /** Where it is described. */
  place: string;
}

export const MECHANISMS: readonly Mechanism[] = [
  {
    name: 'targets',
    offers: 'which devices something is for, for requests and for what runs unattended; previews and frozen sets',
    place: 'modules/devices/targets',
  },
  {
    name: 'schedules',
    offers: 'recurrences in any time zone, and each occurrence handed out once',
    place: 'modules/platform/schedules',
  },
  {
    name: 'approvals',
    offers: "a second person's decision: asked once, decided once by another, carried out once or not at all",
    place: 'modules/platform/approvals',
  },
  {
    name: 'causation',
    offers: 'what led to an event, a job or a command; where chains of reactions end',
    place: 'core/context/causation.ts',
  },
  {
    name: 'sealed payloads',
    offers: 'secret fields of commands: sealed in the row, opened when sent, erased at the end',
    place: 'modules/devices/device-commands',
  },
  {
    name: 'tickets for browsers',
    offers: 'a stream or a download opened once without a header',
    place: 'core/auth/browser-tickets.ts',
  },
  {
    name: 'documents',
    offers: 'CSV, XLSX and PDF from a stream of rows, in constant memory',
    place: 'core/documents',
  },
  {
    name: 'series',
    offers: 'numeric series with roll-ups by five minutes, hours and days',
    place: 'core/series',
  },
];
