/** Opens the agent's WebSocket; the token travels in a header, never in the address. */
import { WebSocket } from 'ws';
import { apiBase } from './client.ts';
import type { OpenSocket } from './uplink.ts';

/** Bytes of a frame from the server: a command has at most 256 KiB. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;

/** An opener bound to one server, for `http` and `https` addresses alike. */
export function socketOpener(server: string): OpenSocket {
  const base = apiBase(server).replace(/^http/, 'ws');
  return ({ agentId, token, timeoutMs }) =>
    new WebSocket(`${base}/agent-ws/${encodeURIComponent(agentId)}/ws`, {
      headers: { authorization: `Bearer ${token}` },
      handshakeTimeout: timeoutMs,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
}
