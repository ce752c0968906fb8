/** Parses the messages that a process writes: whole lines, limited in size and number, each judged by its head before it is parsed. */
import { StringDecoder } from 'node:string_decoder';
import {
  bytesOf,
  type Head,
  hostMethod,
  isPluginMessage,
  limits as LIMITS,
  type PluginMessage,
  parseMessage,
  readHead,
} from '#plugin-sdk/host';
import type { End } from './invocation.ts';

/** Messages in one second that no legitimate plugin reaches. */
const FLOOD = 5_000;

export interface Reading {
  hear(message: PluginMessage, bytes: number): void;
  /** A call that need not be parsed: there is no such method, or it is too large for it. */
  refuse(head: Head, code: 'UNKNOWN_METHOD' | 'TOO_LARGE'): void;
  /** Keys that were taken away from a message. */
  dropped(head: Head, keys: readonly string[]): void;
  /** Called once; nothing is read after it. */
  fault(end: End): void;
}

export class MessageReader {
  private readonly to: Reading;
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';
  private heard = { second: 0, messages: 0 };

  constructor(to: Reading) {
    this.to = to;
  }

  feed(chunk: Buffer): void {
    const lines = (this.rest + this.decoder.write(chunk)).split('\n');
    this.rest = lines.pop() ?? '';
    const end = this.faultOf(lines);
    if (!end) return;
    this.rest = '';
    this.to.fault(end);
  }

  private faultOf(lines: string[]): End | null {
    for (const line of [...lines, this.rest]) {
      if (line.length > LIMITS.MAX_MESSAGE_BYTES)
        return { kind: 'protocol', reason: 'It sent a message larger than 1 MB' };
    }
    const second = Math.floor(performance.now() / 1_000);
    if (this.heard.second !== second) this.heard = { second, messages: 0 };
    this.heard.messages += lines.length;
    if (this.heard.messages > FLOOD)
      return { kind: 'flood', reason: `It sent more than ${FLOOD} messages within a second` };
    for (const line of lines) {
      const fault = this.read(line);
      if (fault !== null) return { kind: 'protocol', reason: fault };
    }
    return null;
  }

  /** What is wrong with it, or null. */
  private read(line: string): string | null {
    const head = readHead(line);
    if (!head) return 'It sent a message that the protocol does not know';
    const method = head.method === null ? null : hostMethod(head.method);
    if (head.method !== null && (method === null || line.length > bytesOf(method))) {
      this.to.refuse(head, method === null ? 'UNKNOWN_METHOD' : 'TOO_LARGE');
      return null;
    }
    try {
      const { value, dropped } = parseMessage(line);
      if (!isPluginMessage(value)) return 'It sent a message that the protocol does not know';
      if (dropped.length > 0) this.to.dropped(head, dropped);
      this.to.hear(value, line.length);
      return null;
    } catch (error) {
      return `It sent what is no message: ${(error as Error).message.slice(0, 200)}`;
    }
  }
}
