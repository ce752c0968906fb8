/**
 * The filter of system calls in the jail: a program for the kernel (seccomp, classic BPF) that refuses what neither Node nor the
 * programs that make the jail need, so that a hole in that part of the kernel is out of reach. bubblewrap loads it.
 */
const EPERM = 1;
const ENOSYS = 38;

/** By name: its number on x64 and on arm64 (`asm/unistd_64.h`, `asm-generic/unistd.h` of Linux); null where it is not there. */
type Numbers = Readonly<Record<string, readonly [x64: number, arm64: number | null]>>;

const REFUSED: Numbers = {
  // Sockets: it has its pipes.
  socket: [41, 198],
  socketpair: [53, 199],
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  setns: [308, 268],
  // Programs in the kernel, and interfaces with a long record of holes.
  bpf: [321, 280],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  msgget: [68, 186],
  semget: [64, 190],
  shmget: [29, 194],
  mq_open: [240, 180],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  // The machine itself.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  personality: [135, 92],
  vhangup: [153, 58],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  lookup_dcookie: [212, 18],
  modify_ldt: [154, null],
  iopl: [172, null],
  ioperm: [173, null],
};
/** Callers do without them where the kernel is older: `mount` by its older call, libc by `clone`, whose flags a filter can see. */
const UNKNOWN: Numbers = {
  clone3: [435, 435],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
};
const CLONE: Numbers = { clone: [56, 220] };
const UNSHARE: Numbers = { unshare: [272, 97] };
const NEW_USERS = 0x10000000;

const MACHINES = { x64: { at: 0, audit: 0xc000003e }, arm64: { at: 1, audit: 0xc00000b7 } } as const;
/** Calls of the x32 interface of x64 have numbers from here. */
const X32 = 0x40000000;

/** Of `struct seccomp_data`. */
const NUMBER = 0;
const MACHINE = 4;
const FIRST_ARGUMENT = 16;
/** Of `linux/filter.h` and `linux/seccomp.h`. */
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const fail = (errno: number) => 0x00050000 | errno;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * The program for this machine, as the kernel reads it; null on a processor whose calls it does not know.
 * @param mayAddUsers the jail itself is made by `unshare` with a namespace of users
 */
export function filterOf(machine: string, mayAddUsers: boolean): Buffer | null {
  if (machine !== 'x64' && machine !== 'arm64') return null;
  const { at, audit } = MACHINES[machine];
  const numbersOf = (calls: Numbers) => Object.values(calls).flatMap((numbers) => numbers[at] ?? []);
  const program: Instruction[] = [
    [LOAD, 0, 0, MACHINE],
    [JUMP_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [JUMP_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, KILL],
  ];
  for (const [calls, errno] of [
    [REFUSED, EPERM],
    [UNKNOWN, ENOSYS],
  ] as const)
    for (const number of numbersOf(calls)) program.push([JUMP_EQUAL, 0, 1, number], [RETURN, 0, 0, fail(errno)]);
  for (const number of numbersOf(mayAddUsers ? CLONE : { ...CLONE, ...UNSHARE }))
    program.push(
      [JUMP_EQUAL, 0, 4, number],
      [LOAD, 0, 0, FIRST_ARGUMENT],
      [JUMP_ANY_BIT, 0, 1, NEW_USERS],
      [RETURN, 0, 0, fail(EPERM)],
      [RETURN, 0, 0, ALLOW],
    );
  program.push([RETURN, 0, 0, ALLOW]);
  return Buffer.concat(program.map(encode));
}

function encode([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
