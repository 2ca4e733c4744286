/** Requests to the operator's HTTP servers that no browser would send. */
import { request } from 'node:http';
import { connect } from 'node:net';

/** A request; the host header is the port's own unless it is given. */
export interface Visit {
  readonly port: number;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long a stream is kept open after its first byte. */
  readonly body?: string;
}

const TIMEOUT_MS = 10_000;

/** The status of a visit; 0 when the connection was closed without one. */
export const visit = (
  { port, path = '/', method = 'GET', headers = {}, body }: Visit,
): Promise<number> =>
  new Promise((resolve) => {
    const asked = request({
      host: '127.0.0.1',
      port,
      path,
      method,
      headers: { ...headers },
      agent: false,
      timeout: TIMEOUT_MS,
    }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(0));
    asked.end(body);
  });

/** A stream that is opened and never read. */
export interface OpenVisit {
  readonly status: number;
  readonly leave: () => void;
}

/** Opens a stream and reads nothing of it. */
export const openVisit = (visited: Visit): Promise<OpenVisit> =>
  new Promise((resolve) => {
    const { port, path = '/', headers = {} } = visited;
    const asked = request({ host: '127.0.0.1', port, path, headers: { ...headers }, agent: false });
    asked.on('response', (response) => {
      response.pause();
      resolve({ status: response.statusCode ?? 0, leave: () => response.destroy() });
    });
    asked.on('error', () => resolve({ status: 0, leave: () => {} }));
    asked.end();
  });

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})/;

/** Sends raw bytes; the status of the answer, or 0 when the connection is closed without one. */
export const sendRaw = (port: number, bytes: string | Uint8Array): Promise<number> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      if (STATUS_LINE.test(answer)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(Number(STATUS_LINE.exec(answer)?.[1] ?? 0)));
  });

/** A connection that stays open. */
export interface HeldConnection {
  readonly isOpen: () => boolean;
  readonly write: (text: string) => void;
  readonly leave: () => void;
}

/** Connects, sends `text` and stays. */
export const hold = (port: number, text: string): Promise<HeldConnection> =>
  new Promise((resolve) => {
    let open = true;
    const socket = connect(port, '127.0.0.1', () => {
      if (text !== '') socket.write(text);
      resolve({
        isOpen: () => open,
        write: (more) => void socket.write(more),
        leave: () => void socket.destroy(),
      });
    });
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => {
      open = false;
    });
  });
