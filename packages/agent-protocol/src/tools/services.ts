/** Services, as live tools list them. */
import type { ServiceStartType, ServiceState } from '../inventory.ts';

export interface ServiceDetail {
  name: string;
  displayName: string | null;
  status: ServiceState;
  startType: ServiceStartType | null;
  account: string | null;
  description: string | null;
  path: string | null;
  dependencies: string[];
}
export type ServiceVerb = 'start' | 'stop' | 'restart';
export interface ServiceChange {
  name: string;
  status: ServiceState;
  /** Present when the service was already in the requested state. */
  note?: string;
  /** Dependent services that were restarted too. */
  restarted?: string[];
}
