/** The process around the interpreter: the plugin's only way to the host are the lines that go through here. */
import { exitCodes } from '../exit-codes.ts';
import { openLink } from '../link.ts';
import { openInterpreter } from './interpreter.ts';

const [folder = '', memoryMb = '', cpuMsPerCall = ''] = process.argv.slice(2);
const exit = process.exit.bind(process);
const early: string[] = [];
let hear = (line: string): void => void early.push(line);
const link = openLink((line) => hear(line));
const interpreter = await openInterpreter({
  folder,
  memoryMb: Number(memoryMb),
  cpuMsPerCall: Number(cpuMsPerCall),
  send: (line) => link.send(line),
  exit(ending, reason) {
    if (reason !== undefined) process.stderr.write(`${reason}\n`);
    exit(exitCodes[ending]);
  },
});
hear = (line) => interpreter.hear(line);
for (const line of early) hear(line);
