/** Hashes in a process of its own, whose pool was sized as app/main.ts does, and prints how many threads that made. */
import { readdirSync, readFileSync } from 'node:fs';
import { loadConfig } from '#config';
// The whole platform is loaded before the pool is sized, as in app/main.ts.
import '#core/start';
import { hashPassword, limitHashing } from '../passwords.ts';

// A file like .env would do this; what the process inherits is not the question.
process.env.UV_THREADPOOL_SIZE = process.argv[2];
const { threadPoolSize } = loadConfig();
limitHashing({ threadPoolSize });
await Promise.all(Array.from({ length: threadPoolSize }, () => hashPassword('a password')));
const names = readdirSync('/proc/self/task').map((id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim());
process.stdout.write(`${names.filter((name) => name.startsWith('libuv-worker')).length}\n`);
