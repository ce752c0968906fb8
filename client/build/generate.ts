/** `npm run generate`: writes the generated files of the client; a test keeps them fresh. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT, generated } from './generated.ts';

for (const [name, text] of Object.entries(await generated())) await writeFile(join(CLIENT, 'src', name), text);
process.stdout.write('client/src/schema.ts and keyed-operations.ts written\n');
