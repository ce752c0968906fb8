/** What the platform sent: mail and text messages, kept as files where no service is configured. */
import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PlatformClient, until } from '#test';

async function files(platform: PlatformClient, folder: 'mail' | 'sms', to: string): Promise<string[]> {
  const path = join(platform.dataDir, folder);
  const names = (await readdir(path).catch(() => [])).sort();
  const all = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  return all
    .map((text) => (folder === 'mail' ? text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=') : text))
    .filter((text) => text.split('\n').some((line) => line === `To: ${to}`));
}

/** Runs jobs until so many messages have gone to this address or number, whoever's test runs beside; oldest first. */
async function sent(platform: PlatformClient, folder: 'mail' | 'sms', to: string, count: number): Promise<string[]> {
  let found: string[] = [];
  await until(async () => {
    await platform.runJobs();
    found = await files(platform, folder, to);
    return found.length >= count;
  });
  return found;
}

export const mailsTo = (platform: PlatformClient, email: string, count: number) => sent(platform, 'mail', email, count);
export const textsTo = (platform: PlatformClient, number: string, count: number) =>
  sent(platform, 'sms', number, count);

/** The code of the newest of `count` text messages to a number. */
export async function codeSentTo(platform: PlatformClient, number: string, count = 1): Promise<string> {
  const texts = await textsTo(platform, number, count);
  return /\n\n(\d{6}) /.exec(texts.at(-1) ?? '')?.[1] ?? '';
}

/** Another six digits. */
export const otherThan = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** A number of one's own, so that limits by number do not mix tests. */
export const someNumber = () => `+4917${randomInt(10_000_000, 99_999_999)}`;
