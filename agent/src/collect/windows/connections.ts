/** The sockets of Windows, from Get-NetTCPConnection and Get-NetUDPEndpoint. */
import type { Connection } from '#agent-protocol';
import { numberOf, type PowershellObject, textOf } from '../../tools/windows/powershell.ts';
import { windowsRows } from './rows.ts';

/** The state as a number: its name may be translated. */
const SCRIPT = `
  $names = @{}
  Get-Process | ForEach-Object { $names[[int]$_.Id] = $_.ProcessName }
  Get-NetTCPConnection | ForEach-Object { @{
    kind = 'tcp'; local = $_.LocalAddress; port = $_.LocalPort; remote = $_.RemoteAddress; remotePort = $_.RemotePort
    state = [int]$_.State; pid = $_.OwningProcess; process = $names[[int]$_.OwningProcess]
  } }
  Get-NetUDPEndpoint | ForEach-Object { @{
    kind = 'udp'; local = $_.LocalAddress; port = $_.LocalPort; pid = $_.OwningProcess
    process = $names[[int]$_.OwningProcess]
  } }
`;
/** MIB_TCP_STATE, from 1; 100 is a port that is bound and neither listens nor is connected. */
const STATES = [
  'close',
  'listen',
  'syn_sent',
  'syn_recv',
  'established',
  'fin_wait1',
  'fin_wait2',
  'close_wait',
  'closing',
  'last_ack',
  'time_wait',
  'delete_tcb',
];

/** Undefined when the question fails. */
export async function windowsConnections(): Promise<Connection[] | undefined> {
  return (await windowsRows(SCRIPT))?.flatMap(connectionOf);
}

/** Empty for a row without an address. */
export function connectionOf(row: PowershellObject): Connection[] {
  // A link-local address carries the number of its interface.
  const address = (value: unknown): string | undefined => textOf(value)?.replace(/%.*$/, '');
  const localAddress = address(row.local);
  if (localAddress === undefined) return [];
  const udp = row.kind === 'udp';
  const state = udp ? 'listen' : STATES[Number(row.state) - 1];
  const remoteAddress = address(row.remote);
  const remotePort = numberOf(row.remotePort);
  const pid = numberOf(row.pid);
  const process = textOf(row.process);
  const family = localAddress.includes(':') ? '6' : '';
  return [
    {
      protocol: `${udp ? 'udp' : 'tcp'}${family}`,
      localAddress,
      localPort: Number(row.port),
      ...(remoteAddress && remotePort && { remoteAddress, remotePort }),
      ...(state && { state }),
      ...(pid !== null && { pid }),
      ...(process && { process }),
    },
  ];
}
