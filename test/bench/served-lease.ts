/** The one Lease that an API server of a bench keeps, with its watch. */
import type { ServerResponse } from 'node:http';
import { asRecord, type JsonRecord, parseJson, recordAt } from '../../src/domain/json.ts';

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

/** A request on the Lease or its collection. */
export interface LeaseCall {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Keeps a Lease. */
export class ServedLease {
  #lease: JsonRecord | undefined;
  #resourceVersion = 1;
  readonly #watchers = new Set<ServerResponse>();

  /** Answers a request. */
  serve(response: ServerResponse, { method, path, body }: LeaseCall): void {
    if (method !== 'GET') this.#write(parseJson(body));
    if (method === 'GET' && path.endsWith('/leases')) {
      const items = this.#lease === undefined ? [] : [this.#lease];
      json(response, 200, { metadata: { resourceVersion: String(this.#resourceVersion) }, items });
    } else if (this.#lease === undefined) json(response, 404, { kind: 'Status', code: 404 });
    else json(response, method === 'POST' ? 201 : 200, this.#lease);
  }

  /** Subscribes to all future changes. */
  sendTo(response: ServerResponse): void {
    this.#watchers.add(response);
    response.on('close', () => this.#watchers.delete(response));
  }

  #write(body: unknown): void {
    this.#resourceVersion += 1;
    const metadata = {
      ...recordAt(this.#lease, 'metadata'),
      ...recordAt(body, 'metadata'),
      uid: 'lease',
      resourceVersion: String(this.#resourceVersion),
    };
    const type = this.#lease === undefined ? 'ADDED' : 'MODIFIED';
    this.#lease = { ...this.#lease, ...asRecord(body), metadata };
    for (const watcher of this.#watchers) {
      watcher.write(`${JSON.stringify({ type, object: this.#lease })}\n`);
    }
  }
}
