/** Counts what a crowd of agents does and tells it as rates. */
import { type Call, RefusedError } from '../link/client.ts';

export class Rates {
  #since = performance.now();
  #heartbeats = 0;
  #results = 0;
  #refused = 0;
  #unanswered = 0;
  #latencies: number[] = [];

  /** The same caller, counted. */
  counted(call: Call): Call {
    return async (method, path, options) => {
      const begin = performance.now();
      try {
        const answer = await call<never>(method, path, options);
        if (path.endsWith('/heartbeat')) {
          this.#heartbeats += 1;
          this.#latencies.push(performance.now() - begin);
        } else if (path.endsWith('/result')) this.#results += 1;
        return answer;
      } catch (fault) {
        if (fault instanceof RefusedError) this.#refused += 1;
        else this.#unanswered += 1;
        throw fault;
      }
    };
  }

  /** A frame from the server: answers to heartbeats and results count as over HTTP. */
  heard(text: string): void {
    if (text.startsWith('{"frame":"heartbeat_ack"')) this.#heartbeats += 1;
    else if (text.startsWith('{"frame":"result_ack"')) this.#results += 1;
    else if (text.startsWith('{"frame":"error"')) this.#refused += 1;
  }

  /** One line about the time since the previous call, which starts the next count. */
  line(devices: number): string {
    const now = performance.now();
    const seconds = Math.max(0.001, (now - this.#since) / 1000);
    const sorted = this.#latencies.sort((a, b) => a - b);
    const at = (share: number): string => `${Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)} ms`;
    const line = [
      `${devices} devices`,
      `${(this.#heartbeats / seconds).toFixed(1)} heartbeats/s (median ${at(0.5)}, p95 ${at(0.95)})`,
      `${(this.#results / seconds).toFixed(1)} command results/s`,
      `${this.#refused} refused`,
      `${this.#unanswered} unanswered`,
    ].join(', ');
    this.#since = now;
    this.#heartbeats = this.#results = this.#refused = this.#unanswered = 0;
    this.#latencies = [];
    return line;
  }
}
