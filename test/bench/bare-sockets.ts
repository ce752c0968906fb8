/** A bare ws server, what the sockets of agents are measured against; tells its memory when asked. */
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer((_request, response) => {
  const { heapUsed, external } = process.memoryUsage();
  response.end(JSON.stringify({ held: heapUsed + external }));
});
const sockets = new Set<object>();
const wss = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
wss.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('message', () => undefined);
  socket.on('close', () => sockets.delete(socket));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`listening ${typeof address === 'object' ? address?.port : address}\n`);
});
