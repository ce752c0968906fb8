/** Invented services: they start and stop at once. */

import type { OsType, ServiceDetail } from '#agent-protocol';
import { SERVICES } from '../catalog.ts';
import { found, holds, type LiveTool, pageOf, text } from './answers.ts';

export function serviceTools(osType: OsType): Record<string, LiveTool> {
  const services = new Map(
    SERVICES[osType].map(([name, displayName]): [string, ServiceDetail] => [
      name,
      {
        ...{ name, displayName, status: 'running', startType: 'auto', account: 'LocalSystem' },
        ...{ description: displayName, path: null, dependencies: [] },
      },
    ]),
  );
  const of = (name: unknown) => found(services.get(text(name)), `service ${String(name)}`);
  const change = (status: 'running' | 'stopped', restart: boolean): LiveTool => {
    return ({ name }) => {
      const service = of(name);
      const same = !restart && service.status === status;
      service.status = status;
      return {
        name: service.name,
        status,
        ...(same ? { note: `The service was ${status} already` } : {}),
        ...(restart ? { restarted: [] } : {}),
      };
    };
  };
  return {
    list_services: (payload) =>
      pageOf(
        [...services.values()].filter(
          ({ name, displayName, status }) =>
            holds(payload.search, name, displayName) && (payload.status ?? status) === status,
        ),
        payload,
      ),
    get_service: ({ name }) => of(name),
    start_service: change('running', false),
    stop_service: change('stopped', false),
    restart_service: change('running', true),
  };
}
