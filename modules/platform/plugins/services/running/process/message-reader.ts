/** Parses the messages that a process writes: whole lines, limited in size and number, valid by the protocol. */
import { StringDecoder } from 'node:string_decoder';
import { isPluginMessage, limits as LIMITS, type PluginMessage, parseMessage } from '#plugin-sdk/host';
import type { End } from './invocation.ts';

/** Messages in one second that no legitimate plugin reaches. */
const FLOOD = 5_000;

export class MessageReader {
  private readonly hear: (message: PluginMessage) => void;
  private readonly fault: (end: End) => void;
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';
  private heard = { second: 0, messages: 0 };

  /** @param fault called once; nothing is read after it */
  constructor(hear: (message: PluginMessage) => void, fault: (end: End) => void) {
    this.hear = hear;
    this.fault = fault;
  }

  feed(chunk: Buffer): void {
    const lines = (this.rest + this.decoder.write(chunk)).split('\n');
    this.rest = lines.pop() ?? '';
    const end = this.faultOf(lines);
    if (!end) return;
    this.rest = '';
    this.fault(end);
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
      const message = parsed(line);
      if (typeof message === 'string') return { kind: 'protocol', reason: message };
      this.hear(message);
    }
    return null;
  }
}

/** The message, or its fault. */
function parsed(line: string): PluginMessage | string {
  try {
    const message = parseMessage(line);
    return isPluginMessage(message) ? message : 'It sent a message that the protocol does not know';
  } catch (error) {
    return `It sent what is no message: ${(error as Error).message.slice(0, 200)}`;
  }
}
