// @ts-check
/** The report as a file: CSV for spreadsheets, a page that prints well. */
import { COLUMNS } from './rows.js';

/**
 * @typedef {import('./rows.js').Row} Row
 * @typedef {import('./rows.js').Summary} Summary
 */

/** RFC 4180; what a spreadsheet would take for a formula is text. @param {Row[]} rows */
export function asCsv(rows) {
  const cell = (/** @type {unknown} */ value) => {
    const text = String(value ?? '');
    const plain = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  const line = (/** @type {unknown[]} */ cells) => `${cells.map(cell).join(',')}\r\n`;
  const head = line(COLUMNS.map(({ label }) => label));
  return head + rows.map((row) => line(COLUMNS.map(({ key }) => row[/** @type {keyof Row} */ (key)]))).join('');
}

/** @type {Record<string, string>} */
const SIGNS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/** @param {unknown} value */
const safe = (value) => String(value ?? '').replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);
const STYLE =
  'body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;padding:4px 8px;text-align:left}';

/** @param {{ organization: string, at: Date, rows: Row[], summary: Summary, past: Summary | null }} report */
export function asHtml({ organization, at, rows, summary, past }) {
  const change = past ? ` (${signed(summary.devices - past.devices)} since the last month)` : '';
  const systems = Object.entries(summary.byOs).map(([os, count]) => `${safe(os)}: ${count}`);
  const cells = (/** @type {Row} */ row) =>
    COLUMNS.map(({ key }) => `<td>${safe(row[/** @type {keyof Row} */ (key)])}</td>`).join('');
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Devices of ${safe(organization)}</title>`,
    `<style>${STYLE}</style><h1>Devices of ${safe(organization)}</h1>`,
    `<p>${at.toISOString().slice(0, 10)}: ${summary.devices} devices${change}. ${systems.join(', ')}. `,
    `Not heard of for 30 days: ${summary.silent}.</p>`,
    `<table><tr>${COLUMNS.map(({ label }) => `<th>${safe(label)}</th>`).join('')}</tr>`,
    rows.map((row) => `<tr>${cells(row)}</tr>`).join('\n'),
    '</table></html>',
  ].join('\n');
}

/** @param {number} by */
const signed = (by) => (by > 0 ? `+${by}` : String(by));
