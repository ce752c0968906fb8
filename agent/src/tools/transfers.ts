/** Reads and writes whole files as streams, the same way on all systems, never wholly in memory. */
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, chown, type FileHandle, link, mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../store/atomic-file.ts';
import { mustNotBeClosed } from './closed-files.ts';
import { type FilePlaces, ToolError } from './contract.ts';
import { fileFault, mustBeAllowed, mustBePath, resolved } from './paths.ts';

/** What went over the line. */
export interface Sent {
  path: string;
  /** Bytes. */
  size: number;
  sha256: string;
}
/** Carries the content of a file to the server, at the pace at which the server takes it. */
export type SendContent = (size: number, content: AsyncIterable<Buffer>) => Promise<void>;
/** What the server knows of the content beforehand, and the content. */
export type FetchContent = () => Promise<{
  size: number | null;
  sha256: string | null;
  content: AsyncIterable<Buffer>;
}>;

const CHUNK_BYTES = 256 * 1024;
/** The kernel's own files say that they are empty; those that are not are small. */
const UNSIZED_BYTES = 4 * 1024 * 1024;
const FLUSH_BYTES = 64 * 1024 * 1024;
const DEFAULT_MODE = 0o644;

/** Sends a file. Throws NOT_FOUND, DENIED, INVALID and FILE_LOCKED before anything is sent. */
export async function readFileFrom(places: FilePlaces, asked: string, send: SendContent): Promise<Sent> {
  const path = mustBePath(asked);
  let handle: FileHandle | undefined;
  try {
    const target = await resolved(path);
    await mustBeAllowed(target, places);
    // Non-blocking: opening a named pipe would wait for a writer.
    handle = await open(target, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) throw new ToolError('INVALID', `${path} is not a file`);
    await mustNotBeClosed(found, places);
    const unsized = found.size === 0n ? await unsizedContent(handle) : Buffer.alloc(0);
    const size = Number(found.size) || unsized.length;
    const hash = createHash('sha256');
    await send(size, unsized.length > 0 ? one(unsized, hash) : contentOf(handle, size, hash, path));
    return { path, size, sha256: hash.digest('hex') };
  } catch (fault) {
    throw fileFault(fault, path);
  } finally {
    await handle?.close().catch(() => undefined);
  }
}

/** As many bytes as the file had when it was opened: a log may grow meanwhile. */
async function* contentOf(
  handle: FileHandle,
  size: number,
  hash: ReturnType<typeof createHash>,
  path: string,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    // A buffer for each chunk: the previous one may still wait to be sent.
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    const chunk = buffer.subarray(0, Math.min(bytesRead, size - at));
    if (chunk.length === 0) throw new ToolError('CONFLICT', `${path} became shorter while it was read`);
    at += chunk.length;
    hash.update(chunk);
    yield chunk;
  }
}

async function* one(content: Buffer, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  hash.update(content);
  yield content;
}

async function unsizedContent(handle: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let total = 0; total < UNSIZED_BYTES; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, null);
    if (bytesRead === 0) break;
    total += bytesRead;
    chunks.push(buffer.subarray(0, bytesRead));
  }
  return Buffer.concat(chunks);
}

export interface Wanted {
  path: string;
  overwrite: boolean;
  createParents: boolean;
  /** What the technician's request said; null where it did not. */
  size: number | null;
  sha256: string | null;
}

/**
 * Writes a file that is whole or absent: into a temporary file beside the target, flushed, checked and renamed.
 * Throws CONFLICT where there is one and `overwrite` is false, also when it appears while the content arrives.
 */
export async function writeFileTo(
  places: FilePlaces,
  wanted: Wanted,
  fetch: FetchContent,
  signal: AbortSignal,
): Promise<Sent> {
  const path = mustBePath(wanted.path);
  let made: string | undefined;
  let temporary: string | undefined;
  try {
    const target = await resolved(path);
    await mustBeAllowed(target, places);
    const before = await stat(target, { bigint: true }).catch(() => undefined);
    if (before && !before.isFile()) throw new ToolError('INVALID', `${path} is not a file`);
    if (before) await mustNotBeClosed(before, places);
    if (before && !wanted.overwrite) throw new ToolError('CONFLICT', `${path} exists already`);
    const folder = dirname(target);
    if (wanted.createParents) made = await mkdir(folder, { recursive: true });
    else if (!(await stat(folder)).isDirectory()) throw new ToolError('NOT_FOUND', `there is no folder ${folder}`);
    temporary = join(folder, `.${basename(target).slice(0, 100)}.${randomUUID()}.part`);
    const written = await receive(temporary, wanted, fetch);
    if (before) {
      await chmod(temporary, Number(before.mode) & 0o7777);
      // Only the superuser may give files away; without that the file is the agent's user's.
      await chown(temporary, Number(before.uid), Number(before.gid)).catch(() => undefined);
    }
    // After a timeout was reported, the file must not appear later.
    signal.throwIfAborted();
    await putInPlace(temporary, target, wanted.overwrite);
    await syncFolder(folder);
    return { path, ...written };
  } catch (fault) {
    if (temporary) await rm(temporary, { force: true }).catch(() => undefined);
    if (made) await removeEmpty(dirname(path), made);
    throw fileFault(fault, path);
  }
}

async function receive(temporary: string, wanted: Wanted, fetch: FetchContent): Promise<Omit<Sent, 'path'>> {
  const file = await open(temporary, 'wx', DEFAULT_MODE);
  try {
    const offered = await fetch();
    const hash = createHash('sha256');
    let size = 0;
    let flushed = 0;
    for await (const chunk of offered.content) {
      hash.update(chunk);
      size += chunk.length;
      await file.writeFile(chunk);
      // In steps: the system would keep gigabytes in memory and then write for minutes.
      if (size - flushed < FLUSH_BYTES) continue;
      await file.datasync();
      flushed = size;
    }
    const sha256 = hash.digest('hex');
    for (const said of [wanted, offered]) {
      if ((said.size ?? size) !== size) throw new Error(`${size} bytes arrived instead of ${said.size}`);
      if ((said.sha256 ?? sha256).toLowerCase() !== sha256) throw new Error('the content arrived damaged');
    }
    await file.sync();
    return { size, sha256 };
  } finally {
    await file.close();
  }
}

/** A link, unlike a renaming, fails where there is a file by now; file systems without links take the small risk. */
async function putInPlace(temporary: string, target: string, overwrite: boolean): Promise<void> {
  if (!overwrite) {
    try {
      await link(temporary, target);
      return await rm(temporary);
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code === 'EEXIST') throw fault;
      if (await stat(target).catch(() => undefined)) throw new ToolError('CONFLICT', `${target} exists already`);
    }
  }
  await rename(temporary, target);
}

/** Takes back the folders that were made for a file that did not arrive. */
async function removeEmpty(folder: string, highest: string): Promise<void> {
  for (let at = folder; at.startsWith(highest); at = dirname(at)) {
    if (
      !(await rmdir(at)
        .then(() => true)
        .catch(() => false))
    )
      return;
  }
}
