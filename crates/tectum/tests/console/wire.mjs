// A connection that can be cut: another loopback address that leads to the house, which cannot tell the difference.

import { connect, createServer } from 'node:net';

export class Wire {
  /** @param {number} port of the house */
  constructor(port) {
    this.port = port;
    this.sockets = new Set();
    this.server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('close', () => this.sockets.delete(socket));
        socket.on('error', () => socket.destroy());
      }
      // Names of the same length, so nothing else changes.
      near.on('data', (bytes) => far.write(Buffer.from(bytes.toString('latin1').replaceAll(`127.0.0.2:${port}`, `127.0.0.1:${port}`), 'latin1')));
      far.on('data', (bytes) => near.write(bytes));
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    });
  }

  /** @param {number} port @returns {Promise<Wire>} */
  static async to(port) {
    const wire = new Wire(port);
    await wire.mend();
    return wire;
  }

  /** Ends every connection, and takes no other. */
  cut() {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  mend() {
    return new Promise((resolve) => this.server.listen(this.port, '127.0.0.2', () => resolve(undefined)));
  }
}
