#!/usr/bin/env node
// Checks exported audit chains against signed checkpoints. Needs Node 20 or newer and nothing else: no server, no network,
// no other file. The format and all rules are in core/audit/README.md, so that you need not trust this file either.
//
//   node verify-audit.mjs --key KEY [--key KEY] [--checkpoint FILE …] [--partial] [--unsigned] EXPORT [EXPORT …]
//
// KEY         the public key as `name+id+base64`, or a file that holds it (one a line)
// --checkpoint  notes kept elsewhere: a signed note, or NDJSON lines with a field `note`
// --partial   the exports need not reach the end of the newest checkpoint
// --unsigned  passes also rows that no checkpoint covers, when they are chained
// EXPORT      NDJSON, also .gz, in the order of their rows
//
// Ends with 0 when everything fits, 1 when something does not, 2 when it could not be checked.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createGunzip, gunzipSync } from 'node:zlib';

class Bad extends Error {}

const sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const leafHash = (checksum) => sha256(Buffer.from([0]), Buffer.from(checksum, 'hex'));
const nodeHash = (left, right) => sha256(Buffer.from([1]), left, right);

/** RFC 8785. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const members = Object.keys(value).sort(compare);
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

// ---- keys and checkpoints: C2SP signed-note and tlog-checkpoint

function readKey(text) {
  const [, name, id, encoded = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const right = sha256(`${name}\n`, bytes).subarray(0, 4).toString('hex');
  if (bytes.length !== 33 || bytes[0] !== 1 || id !== right) throw new Error(`not an Ed25519 verifier key: ${text}`);
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes.subarray(1)]);
  return { name, id, key: createPublicKey({ key: der, format: 'der', type: 'spki' }) };
}

/** What a note says about a chain, when one of the keys signed it. */
function openNote(note, keys, owner) {
  const end = note.lastIndexOf('\n\n');
  const text = note.slice(0, end + 1);
  for (const line of note.slice(end + 2).split('\n')) {
    const [, name, encoded] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded ?? '', 'base64');
    const key = keys.find((one) => one.name === name && one.id === bytes.subarray(0, 4).toString('hex'));
    if (!key || !verify(null, Buffer.from(text), key.key, bytes.subarray(4))) continue;
    const [origin, size, root] = text.split('\n');
    if (origin !== `${key.name}/${owner}`) throw new Bad(`a checkpoint of ${origin} was given for ${owner}`);
    return { size: Number(size), root: Buffer.from(root, 'base64') };
  }
  throw new Bad(`a checkpoint is not signed by the given key: ${text.split('\n').slice(0, 2).join(', size ')}`);
}

/** Notes of one owner in a file: one signed note, or NDJSON with the field `note`. */
function notesIn(file, owner) {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  const notes = text.startsWith('{') ? text.split('\n').filter(Boolean).map((line) => JSON.parse(line).note) : [text];
  return notes.filter((note) => (note.split('\n')[0] ?? '').endsWith(`/${owner}`));
}

// ---- the tree: RFC 6962

const isPower = (n) => Number.isInteger(Math.log2(n));
function split(size) {
  let k = 1;
  while (k * 2 < size) k *= 2;
  return k;
}

/** Hashes of the complete subtrees over the first `size` leaves, largest first. */
class Frontier {
  constructor(size, nodes) {
    this.size = size;
    this.nodes = nodes;
  }
  append(leaf) {
    let node = leaf;
    for (let rest = this.size; rest % 2 === 1; rest = Math.floor(rest / 2)) node = nodeHash(this.nodes.pop(), node);
    this.nodes.push(node);
    this.size += 1;
  }
  /** The root of a tree of `size`, whose leaves behind these are known by the hashes in `right`. */
  root(size = this.size, right = []) {
    const lefts = [...this.nodes];
    const rights = [...right];
    const rootOf = (low, high) => {
      if (low >= this.size) return rights.shift() ?? Buffer.alloc(0);
      if (high <= this.size && isPower(high - low)) return lefts.shift() ?? Buffer.alloc(0);
      const middle = low + split(high - low);
      return nodeHash(rootOf(low, middle), rootOf(middle, high));
    };
    return size === 0 ? sha256('') : rootOf(0, size);
  }
}

// ---- the exports

class Chain {
  constructor(owner, after, left, checkpoints) {
    this.owner = owner;
    this.first = after + 1;
    this.place = after;
    // Before the very first row there is nothing; before a later one there is a row that is not here.
    this.checksum = after === 0 ? null : undefined;
    this.frontier = left && new Frontier(after, left);
    this.checkpoints = checkpoints;
    this.good = after;
  }

  row(row) {
    const { checksum, ...covered } = row;
    const named = `row ${row.seq} ${row.id}`;
    const owner = row.orgId ? `org:${row.orgId}` : row.partnerId ? `partner:${row.partnerId}` : 'platform';
    if (sha256(canonical(covered)).toString('hex') !== checksum) throw new Bad(`${named}: altered`);
    if (row.owner !== this.owner || owner !== this.owner) throw new Bad(`${named}: of another chain`);
    if (row.seq !== this.place + 1) throw new Bad(`${named}: missing before (the last one was ${this.place})`);
    if (this.checksum !== undefined && row.prevChecksum !== this.checksum) throw new Bad(`${named}: not chained`);
    this.place = row.seq;
    this.checksum = checksum;
    if (!this.frontier) return;
    this.frontier.append(leafHash(checksum));
    for (const one of this.checkpoints) if (one.size === row.seq) this.hold(one, this.frontier.root());
  }

  hold(checkpoint, root) {
    if (!root.equals(checkpoint.root)) {
      throw new Bad(
        `the checkpoint of size ${checkpoint.size} is broken: a row from ${this.good + 1} to ${checkpoint.size} is not the one that was signed`,
      );
    }
    this.good = checkpoint.size;
  }
}

function parsed(line, file) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Bad(`${file} has a line that is not JSON: ${line.slice(0, 60)}`);
  }
}

/** Reads one export into the chain that goes on, or a new one. */
async function read(file, chain, keys, files) {
  const input = createReadStream(file);
  const lines = createInterface({ input: file.endsWith('.gz') ? input.pipe(createGunzip()) : input });
  let header = null;
  let trailer = null;
  let rows = 0;
  let current = chain;
  for await (const line of lines) {
    if (line === '') continue;
    const value = parsed(line, file);
    if (!header) {
      if (value.format !== 'quartermaster-audit-chain/1') throw new Error(`${file} is no export of an audit chain`);
      header = value;
      const left = value.left?.map((node) => Buffer.from(node, 'base64')) ?? null;
      const notes = [...(value.checkpoint ? [value.checkpoint] : []), ...files.flatMap((name) => notesIn(name, value.owner))];
      const checkpoints = notes.map((note) => openNote(note, keys, value.owner)).sort((a, b) => a.size - b.size);
      if (!current) current = new Chain(value.owner, value.after, left, checkpoints);
      else if (current.owner !== value.owner) throw new Error(`${file} belongs to ${value.owner}, not to ${current.owner}`);
      else if (current.place !== value.after) throw new Bad(`${file} begins after row ${value.after}, but row ${current.place} came last`);
      else current.checkpoints = checkpoints;
    } else if (value.seq === undefined) {
      trailer = value;
    } else {
      current.row(value);
      rows += 1;
    }
  }
  if (!header || trailer?.rows !== rows || trailer.lastSeq !== current.place) throw new Bad(`${file} is incomplete`);
  const proved = header.checkpoint && openNote(header.checkpoint, keys, header.owner);
  if (proved && current.frontier && proved.size > current.place && trailer.right.length > 0) {
    const right = trailer.right.map((node) => Buffer.from(node, 'base64'));
    const good = current.good;
    current.hold(proved, current.frontier.root(proved.size, right));
    current.good = Math.max(good, current.place);
  }
  return current;
}

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      key: { type: 'string', multiple: true },
      checkpoint: { type: 'string', multiple: true, default: [] },
      partial: { type: 'boolean', default: false },
      unsigned: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  if (!values.key || positionals.length === 0) throw new Error('usage: node verify-audit.mjs --key KEY [--checkpoint FILE] [--partial] [--unsigned] EXPORT …');
  const keys = values.key
    .flatMap((key) => (existsSync(key) ? readFileSync(key, 'utf8').split('\n') : [key]))
    .map((line) => line.trim())
    .filter(Boolean)
    .map(readKey);
  let chain = null;
  for (const file of positionals) chain = await read(file, chain, keys, values.checkpoint);
  const newest = chain.checkpoints.at(-1)?.size ?? 0;
  if (newest > chain.place && !values.partial) {
    throw new Bad(`rows ${chain.place + 1} to ${newest} are missing: the newest checkpoint covers them`);
  }
  if (chain.place < chain.first) throw new Bad('there is nothing to check: no rows and no checkpoint');
  const uncovered = chain.good < chain.place ? `row ${chain.good + 1} and later` : null;
  if (uncovered && !values.unsigned) throw new Bad(`${uncovered} are under no signed checkpoint`);
  const said = [`PASS  ${chain.owner}: rows ${chain.first} to ${chain.place} are whole`];
  if (chain.first > 1) said.push(`rows 1 to ${chain.first - 1} are not here: pruned, or left out of this export`);
  said.push(uncovered ? `${uncovered} are only chained` : 'all of them are under a signed checkpoint');
  process.stdout.write(`${said.join('; ')}\n`);
}

main().catch((error) => {
  process.stdout.write(error instanceof Bad ? `FAIL  ${error.message}\n` : `ERROR ${error.message}\n`);
  process.exitCode = error instanceof Bad ? 1 : 2;
});
