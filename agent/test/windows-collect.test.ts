/** The inventory and load of Windows, out of what PowerShell and quser once printed. */
import test from 'ava';
import { hardwareOf, virtualPlatform } from '../src/collect/windows/hardware.ts';
import { cheapest, diskOf, serviceOf, softwareOf } from '../src/collect/windows/inventory.ts';
import { loadOf } from '../src/collect/windows/load.ts';
import { identityOf, momentOf, parseQuser } from '../src/collect/windows/system.ts';
import { updateOf } from '../src/collect/windows/updates.ts';
import { type PowershellObject, powershell, rows } from '../src/tools/windows/powershell.ts';
import { PATIENT, recordedAsk, recording } from './recorded.ts';

async function recorded(name: string): Promise<PowershellObject[]> {
  const { ask } = recordedAsk(() => recording(`windows/${name}.json`));
  return rows(await powershell(ask, '', { about: name, signal: PATIENT }));
}
const first = async (name: string): Promise<PowershellObject> => (await recorded(name))[0] ?? {};

test('hardware of Windows names the real graphics adapter, and no filler of a maker', async (t) => {
  t.deepEqual(hardwareOf(await first('hardware')), {
    cpuCores: 12,
    diskTotalGb: 476.94,
    serialNumber: '7XQ2K53',
    manufacturer: 'Dell Inc.',
    model: 'OptiPlex 7090',
    motherboardSerial: '/7XQ2K53/CNPE1001A200B1/',
    biosVersion: '1.21.0',
    gpuModel: 'Intel(R) UHD Graphics 750',
  });
  const guest = hardwareOf(await first('hardware-virtual'));
  t.like(guest, { diskTotalGb: undefined, serialNumber: undefined, motherboardSerial: undefined });
  t.is(guest.gpuModel, 'Microsoft Hyper-V Video');
});

test('Windows is named with its build, and virtual machines by their maker', async (t) => {
  t.deepEqual(identityOf(await first('identity')), {
    osVersion: 'Microsoft Windows 11 Pro',
    osBuild: '10.0.22631.4460',
    machineGuid: '2c0e0b1e-5f6a-4d0a-9b2b-7a2f1c3d4e5f',
    deviceRole: 'workstation',
    isVirtual: false,
  });
  t.like(identityOf(await first('identity-server')), {
    osBuild: '10.0.20348',
    deviceRole: 'server',
    isVirtual: true,
    virtualizationPlatform: 'vmware',
  });
  const core = { ...(await first('identity-server')), installation: 'Server Core' };
  t.true(identityOf(core).isHeadless);
  t.false(identityOf({ ...core, installation: 'Server' }).isHeadless);
  t.is(virtualPlatform('Microsoft Corporation', 'Virtual Machine'), 'microsoft');
  t.is(virtualPlatform('Microsoft Corporation', 'Surface Pro 9'), undefined);
  t.is(virtualPlatform('QEMU', 'Standard PC (Q35 + ICH9, 2009)'), 'kvm');
});

test('sessions are read by the order of their columns, in any language', async (t) => {
  t.deepEqual(parseQuser(recording('windows/quser.txt')), [
    { user: 'anna', id: 3, active: false },
    { user: 'administrator', id: 1, active: true },
    { user: 'bob', id: 4, active: true },
  ]);
  t.deepEqual(momentOf(await first('moment-german')), { pendingReboot: true, lastUser: 'jürgen' });
  t.deepEqual(momentOf(await first('moment-nobody')), { pendingReboot: false });
  t.deepEqual(momentOf({}), {});
});

test('drives, programs, services and the way out are read', async (t) => {
  t.deepEqual((await recorded('disks')).flatMap(diskOf), [
    {
      mountPoint: 'C:',
      device: 'C:',
      fsType: 'NTFS',
      totalGb: 475.91,
      usedGb: 237.95,
      freeGb: 237.95,
      usedPercent: 50,
    },
  ]);
  const edge = {
    vendor: 'Microsoft Corporation',
    installDate: '2026-11-19',
    installLocation: 'C:\\Program Files (x86)\\Microsoft\\Edge\\Application',
  };
  t.deepEqual((await recorded('software')).flatMap(softwareOf), [
    {
      name: '7-Zip 24.08 (x64)',
      version: '24.08',
      vendor: 'Igor Pavlov',
      installLocation: 'C:\\Program Files\\7-Zip\\',
    },
    { name: 'Microsoft Edge', version: '131.0.2903.51', ...edge },
    { name: 'Kasse', version: '' },
  ]);
  const [spooler, , maps] = (await recorded('services')).map(serviceOf);
  t.deepEqual(spooler, { name: 'Spooler', displayName: 'Druckwarteschlange', state: 'running', startType: 'auto' });
  t.is(maps?.startType, 'auto_delayed');
  t.is(cheapest(await recorded('routes')), 'Ethernet');
  t.is(cheapest([]), undefined);
});

test('counters of Windows are totals, and what is missing is left out', async (t) => {
  t.deepEqual(loadOf(await first('load')), {
    network: { in: 84213377211, out: 9921188321 },
    disk: { read: 1234567890123, written: 987654321 },
    processCount: 213,
  });
  t.deepEqual(loadOf({ received: 1, sent: null }), { processCount: undefined });
});

test('updates that wait are told apart by the ids of their categories, not by names', async (t) => {
  const updates = (await recorded('updates')).map(updateOf);
  t.deepEqual(updates[0], {
    id: '5f2a-1',
    title: '2026-11 Kumulatives Update für Windows 11 (KB5046633)',
    version: 'KB5046633',
    kind: 'security',
    severity: 'critical',
    sizeBytes: 734003200,
    rebootRequired: true,
  });
  t.deepEqual(updates.map(({ kind, rebootRequired, sizeBytes }) => [kind, rebootRequired, sizeBytes]).slice(1), [
    ['driver', false, null],
    ['other', false, 1048576],
  ]);
});
