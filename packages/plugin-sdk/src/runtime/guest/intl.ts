/** `Intl.DateTimeFormat` and `Intl.NumberFormat`, and what dates and numbers have of them. */
import { type HostFunctions, provide } from './host-functions.ts';

type Locales = string | readonly string[] | undefined;

export function provideIntl(host: HostFunctions): void {
  const ask = (kind: string, method: string, locales: Locales, options: object | undefined, value = 0) =>
    JSON.parse(host.format(kind, method, JSON.stringify(locales ?? 'en-US'), JSON.stringify(options ?? {}), value));
  const formatter = (kind: string, methods: readonly string[], numberOf: (value: unknown) => number) => {
    class Formatter {
      constructor(locales?: Locales, options?: object) {
        // Throws a RangeError for options that are not valid, as it should.
        const resolved = ask(kind, 'resolvedOptions', locales, options);
        for (const method of methods)
          Reflect.defineProperty(this, method, {
            value: (value?: unknown) => ask(kind, method, locales, options, numberOf(value)),
          });
        Reflect.defineProperty(this, 'resolvedOptions', { value: () => ({ ...resolved }) });
      }
    }
    Reflect.defineProperty(Formatter, 'name', { value: kind });
    return Formatter;
  };
  const methods = ['format', 'formatToParts'] as const;
  const DateTimeFormat = formatter('DateTimeFormat', methods, (value) => Number(value ?? Date.now()));
  const NumberFormat = formatter('NumberFormat', methods, Number);
  provide({ Intl: Object.freeze({ DateTimeFormat, NumberFormat }) });
  const DATE = { year: 'numeric', month: 'numeric', day: 'numeric' };
  const TIME = { hour: 'numeric', minute: 'numeric', second: 'numeric' };
  const local = (part: object) =>
    function (this: Date, locales?: Locales, options?: object): string {
      if (Number.isNaN(this.getTime())) return 'Invalid Date';
      const given = options as Record<string, unknown> | undefined;
      const says = Object.keys(given ?? {}).some(
        (name) => name in { ...DATE, ...TIME, dateStyle: 0, timeStyle: 0, weekday: 0 },
      );
      return ask('DateTimeFormat', 'format', locales, says ? given : { ...part, ...given }, this.getTime());
    };
  const put = (of: object, name: string, value: unknown) =>
    Reflect.defineProperty(of, name, { value, configurable: true, writable: true });
  put(Date.prototype, 'toLocaleString', local({ ...DATE, ...TIME }));
  put(Date.prototype, 'toLocaleDateString', local(DATE));
  put(Date.prototype, 'toLocaleTimeString', local(TIME));
  put(Number.prototype, 'toLocaleString', function (this: number, locales?: Locales, options?: object): string {
    return ask('NumberFormat', 'format', locales, options, Number(this));
  });
}
