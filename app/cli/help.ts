/** The texts of `--help`. */
import type { Command, Form, Option } from './command.ts';

const PROGRAM = 'quartermaster';
/** Columns of the terminal that help is written for. */
const WIDTH = 100;

export function overview(commands: ReadonlyMap<string, Command>): string {
  const rows = [...commands].map(([name, { summary }]): [string, string] => [name, summary]);
  return [
    `Usage: ${PROGRAM} <command> [arguments]`,
    '',
    'Commands:',
    ...table(rows),
    '',
    `Run ${PROGRAM} <command> --help for the arguments of a command.`,
    'Configuration comes from environment variables and from the file .env; .env.example describes them.',
    '',
  ].join('\n');
}

/** Those that the command declares, then those that are known at run time. */
export const formsOf = async (command: Command): Promise<readonly Form[]> => [
  ...command.forms,
  ...((await command.moreForms?.()) ?? []),
];

export async function helpOf(name: string, command: Command): Promise<string> {
  const forms = await formsOf(command);
  const options = Object.entries(command.options ?? {});
  const lines = [`${command.summary}.`, '', 'Usage:', ...forms.flatMap((form) => linesOf(name, form))];
  if (command.description) lines.push('', ...wrap(command.description, WIDTH));
  if (options.length > 0)
    lines.push('', 'Options:', ...table(options.map(([option, one]) => [labelOf(option, one), one.description])));
  lines.push('', 'Examples:', ...command.examples.map((example) => `  ${PROGRAM} ${example}`), '');
  return lines.join('\n');
}

/** The forms alone, for a message about wrong arguments. */
export const usageOf = (name: string, forms: readonly Form[]): string =>
  forms.map(({ usage }) => `  ${PROGRAM} ${name} ${usage}`.trimEnd()).join('\n');

const labelOf = (option: string, { type, value = 'VALUE' }: Option): string =>
  type === 'boolean' ? `--${option}` : `--${option} ${value}`;

const linesOf = (name: string, { usage, description }: Form): string[] => [
  `  ${PROGRAM} ${name} ${usage}`.trimEnd(),
  ...wrap(description, WIDTH - 6).map((line) => `      ${line}`),
];

function table(rows: readonly [string, string][]): string[] {
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  return rows.flatMap(([label, text]) =>
    wrap(text, WIDTH - width - 2).map((line, index) => `  ${(index === 0 ? label : '').padEnd(width)}${line}`),
  );
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line];
}
