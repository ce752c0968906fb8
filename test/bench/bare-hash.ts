/** Bare Argon2id with the cost of our passwords, as many at once as the API makes: what `login` is measured against. */
import { argon2, randomBytes } from 'node:crypto';
import { loadConfig } from '#config';

const seconds = Number(process.env.BENCH_SECONDS);
// Before the thread pool is first used, as the API does.
const atOnce = loadConfig().threadPoolSize - 2;
const nonce = randomBytes(16);
const end = performance.now() + seconds * 1000;
const begin = performance.now();
const used = process.cpuUsage();
let done = 0;

async function lane(): Promise<void> {
  while (performance.now() < end) {
    await new Promise<void>((resolve, reject) => {
      const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
      argon2('argon2id', { ...cost, message: 'correct horse battery', nonce }, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    done += 1;
  }
}

await Promise.all(Array.from({ length: atOnce }, lane));
const { user, system } = process.cpuUsage(used);
process.stdout.write(`rate ${done / ((performance.now() - begin) / 1000)} cpu ${(user + system) / 1000 / done}\n`);
