/** The real API server of a test bed, behind the contract suite's interface. */
import { Agent, request } from 'undici';
import { asRecord, parseJson, recordAt, textAt } from '../../../src/domain/json.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import type { Answer, ContractCluster, OpenWatch, WatchLine } from '../../contract/cluster.ts';
import { pause } from '../eventually.ts';
import { adminAccess } from './cluster-connection.ts';

const MOMENT_MS = 50;
const PATIENT = { headersTimeout: 0, bodyTimeout: 0 };

interface Connection {
  readonly server: string;
  readonly authorization: string;
  readonly dispatcher: Agent;
}

const headersOf = (headers: Readonly<Record<string, string | string[] | undefined>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
  );

const bodyOf = (text: string): Answer['body'] => asRecord(parseJson(text)) ?? { text };

const payloadOf = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);

/** Names and values in turn: lines of one value are a header that is sent several times. */
const headerList = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value.split('\n').flatMap((line) => [name, line])
  );

const requestOver =
  ({ server, authorization, dispatcher }: Connection): ContractCluster['request'] =>
  async ({ method, path, body, headers = {} }) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const answer = await request(`${server}${path}`, {
      method,
      dispatcher,
      headers: headerList({
        authorization,
        ...(body === undefined ? {} : { 'content-type': type }),
        ...headers,
      }),
      ...(body === undefined ? {} : { body: payloadOf(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: headersOf(answer.headers), body: bodyOf(text) };
  };

/** Parses what has come of a watch line by line. */
const readLines = async (chunks: AsyncIterable<unknown>, lines: WatchLine[]): Promise<void> => {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : '';
    const whole = rest.split('\n');
    rest = whole.pop() ?? '';
    for (const line of whole) {
      const value = parseJson(line);
      lines.push({ type: textAt(value, 'type') ?? '', object: recordAt(value, 'object') ?? {} });
    }
  }
};

const watchOver =
  ({ server, authorization, dispatcher }: Connection): ContractCluster['watch'] =>
  async (path): Promise<OpenWatch> => {
    const leaving = new AbortController();
    const { statusCode, body } = await request(`${server}${path}`, {
      dispatcher,
      headers: { authorization },
      signal: leaving.signal,
    });
    const lines: WatchLine[] = [];
    let over = false;
    void readLines(body, lines).catch(() => undefined).finally(() => {
      over = true;
    });
    return { status: statusCode, lines, isOver: () => over, close: () => leaving.abort() };
  };

/** A cluster at an address; HTTP cannot request `compactHistory`. */
export const clusterBehind = (
  connection: Connection,
  compactHistory: () => Promise<void>,
): ContractCluster => ({
  request: requestOver(connection),
  watch: watchOver(connection),
  moment: () => pause(MOMENT_MS),
  compactHistory,
});

/** The bed's API server, as its administrator. */
export const contractBed = async (bed: Testbed): Promise<ContractCluster> => {
  const { server, authority, token } = await adminAccess(bed);
  // HTTP/2 would join the lines of a repeated header.
  const dispatcher = new Agent({ connect: { ca: authority }, allowH2: false, ...PATIENT });
  return clusterBehind(
    { server, authorization: `Bearer ${token}`, dispatcher },
    () => bed.compactHistory(),
  );
};
