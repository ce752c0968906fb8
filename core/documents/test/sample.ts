/** A document of all parts, and what it is collected into. */
import { deflateSync } from 'node:zlib';
import type { DocumentColumn, DocumentDeclaration, DocumentRow } from '../document.ts';

export const COLUMNS: DocumentColumn[] = [
  { key: 'name', label: 'Device', kind: 'text' },
  { key: 'note', label: 'Note', kind: 'text', width: 3 },
  { key: 'patches', label: 'Missing patches', kind: 'integer', total: 'sum' },
  { key: 'share', label: 'Compliance', kind: 'percent', total: 'average' },
  { key: 'disk', label: 'Disk', kind: 'bytes', total: 'sum' },
  { key: 'seen', label: 'Last seen', kind: 'datetime' },
  { key: 'until', label: 'Warranty', kind: 'date' },
];

export const SCRIPTS = [
  'Straße, Łódź, Ærø',
  'Сервер бухгалтерии',
  'Διακομιστής αρχείων',
  'שרת קבצים (גיבוי) 2',
  'خادم الملفات رقم 42',
  '東京本社のサーバー',
  '上海办公室 文件服务器',
  '서울 사무실 서버',
];

export const row = (at: number): DocumentRow => ({
  name: `PC-${at}`,
  note: SCRIPTS[at % SCRIPTS.length],
  patches: at % 7,
  share: (at % 100) / 100,
  disk: at * 1_048_576,
  seen: new Date(Date.UTC(2026, 9, 25, 0, at % 60)),
  until: '2027-01-31',
});

export function* rows(count: number): Generator<DocumentRow> {
  for (let at = 0; at < count; at += 1) yield row(at);
}

const chunk = (name: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(name), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
};

function crc(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** A PNG of one colour. */
export function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const line = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from([0x1f, 0x6f, 0x8b]))]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)));
  const parts = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]);
}

export const sample = (count: number): DocumentDeclaration => ({
  title: 'Patch compliance',
  subtitle: 'Contoso GmbH',
  generatedAt: new Date('2026-10-25T08:00:00Z'),
  logo: png(120, 40),
  accent: '#1f6f8b',
  zone: 'Europe/Berlin',
  locale: 'en-GB',
  sections: [
    {
      type: 'figures',
      heading: 'Key figures',
      figures: [
        { label: 'Devices', kind: 'integer', value: 12_345 },
        { label: 'Compliance', kind: 'percent', value: 0.934 },
        { label: 'Storage', kind: 'bytes', value: 5_497_558_138_880 },
        { label: 'Oldest scan', kind: 'date', value: '2026-10-01' },
      ],
    },
    {
      type: 'bar-chart',
      heading: 'Missing patches by severity',
      kind: 'integer',
      values: ['Critical', 'Important', 'Moderate', 'Low'].map((label, at) => ({ label, value: 40 * (at + 1) })),
    },
    {
      type: 'line-chart',
      heading: 'Compliance by week',
      kind: 'percent',
      values: Array.from({ length: 26 }, (_, at) => ({ label: `Week ${at + 1}`, value: 0.6 + 0.3 * Math.sin(at / 4) })),
    },
    { type: 'table', heading: 'Devices', columns: COLUMNS, rows: rows(count) },
  ],
});

export async function collected(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}
