/** Patterns that tenants write, matched in linear time: all states are followed at once, nothing is tried again. */

interface Step {
  accepts(char: string): boolean;
  /** May be passed over. */
  optional: boolean;
  /** May be taken again. */
  loop: boolean;
}
const MOST_STEPS = 300;
const CLASSES: Record<string, RegExp> = { d: /^\d$/, w: /^\w$/, s: /^\s$/ };
// One element: a class in brackets, an escape, a dot or a plain character; then how often.
const ELEMENT = /(?:\[(\^?)((?:\\.|[^\]\\])+)\]|\\(.)|([^\\[\](){}|*+?^$]))(?:([?*+])|\{(\d{1,3})(?:,(\d{1,3}))?\})?/uy;

function escaped(char: string): ((candidate: string) => boolean) | null {
  const known = CLASSES[char];
  if (known) return (candidate) => known.test(candidate);
  // An escape before a letter or digit would mean something elsewhere; here it means nothing.
  return /[A-Za-z0-9]/.test(char) ? null : (candidate) => candidate === char;
}

function bracket(body: string, negated: boolean): ((candidate: string) => boolean) | null {
  const tests: ((candidate: string) => boolean)[] = [];
  for (const [, code, from, to] of body.matchAll(/\\(.)|([^\\])(?:-([^\\]))?/gu)) {
    const test = code
      ? escaped(code)
      : (candidate: string) => candidate >= (from ?? '') && candidate <= (to ?? from ?? '');
    if (!test || (from && to && from > to)) return null;
    tests.push(test);
  }
  return (candidate) => tests.some((test) => test(candidate)) !== negated;
}

/** The steps of a pattern, or null when it is outside the language. */
function compile(pattern: string): Step[] | null {
  const steps: Step[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < pattern.length) {
    const found = ELEMENT.exec(pattern);
    if (!found) return null;
    const [, negation, body, code, plain, sign, low, high] = found;
    let accepts: Step['accepts'] | null;
    if (body !== undefined) accepts = bracket(body, negation === '^');
    else if (code !== undefined) accepts = escaped(code);
    else accepts = plain === '.' ? () => true : (candidate) => candidate === plain;
    const least = low !== undefined ? Number(low) : sign === '?' || sign === '*' ? 0 : 1;
    const most = low !== undefined ? Number(high ?? low) : 1;
    if (!accepts || most < least || steps.length + most > MOST_STEPS) return null;
    const loop = sign === '*' || sign === '+';
    for (let n = 0; n < most; n += 1) steps.push({ accepts, optional: n >= least, loop });
  }
  return steps;
}

export const isPattern = (pattern: string): boolean => compile(pattern) !== null;

/** Whether the whole text fits: at most text length times 300 steps of work, whatever the pattern. */
export function matches(pattern: string, text: string): boolean {
  const steps = compile(pattern);
  if (!steps) return false;
  let states = passOver(steps, new Set([0]));
  for (const char of text) {
    const next = new Set<number>();
    for (const state of states) {
      const step = steps[state];
      if (!step?.accepts(char)) continue;
      next.add(state + 1);
      if (step.loop) next.add(state);
    }
    if (next.size === 0) return false;
    states = passOver(steps, next);
  }
  return states.has(steps.length);
}

/** Adds every state reached by passing over optional steps; a set grows while it is walked. */
function passOver(steps: Step[], states: Set<number>): Set<number> {
  for (const state of states) if (steps[state]?.optional) states.add(state + 1);
  return states;
}
