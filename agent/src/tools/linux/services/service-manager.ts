/** What a service manager of Linux answers, whichever of them it is. */
import type { ServiceDetail } from '#agent-protocol';
import type { Services } from '../../contract.ts';
import { matches } from '../../paging.ts';

/** One kind of service manager; names are checked before it is asked. */
export interface Manager {
  list: Services['list'];
  get: Services['get'];
  /** Brings a service into the state; throws when it did not get there. */
  change(name: string, verb: Verb, signal: AbortSignal): Promise<void>;
  /** Names of the agent's own services. */
  own(): Promise<string[]>;
}
type ServiceFilter = { search?: string; status?: ServiceDetail['status'] };
export type Verb = 'start' | 'stop' | 'restart';

/** Whether a service is among those that were asked for. */
export function isWanted(service: ServiceDetail, { search, status }: ServiceFilter): boolean {
  return matches(search, service.name, service.displayName) && (status === undefined || service.status === status);
}
