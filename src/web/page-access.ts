/**
 * Who may read the live page.
 *
 * Promises: on every listen address a request must name a host that the page is meant for, so that
 * a foreign name that resolves to this machine (DNS rebinding) reads nothing; with a token, nothing
 * is served without it; the comparison takes the same time for every wrong token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** What a reader must name and show. */
export interface PageAccess {
  /** The listen address. */
  readonly host: string;
  /** Further names of the page, such as that of an ingress, in lower case. */
  readonly names: readonly string[];
  /** Undefined: everybody who reaches the page may read it. */
  readonly token: string | undefined;
}

/** The answer to a request that is not served. */
export interface PageRefusal {
  readonly status: 400 | 401 | 403;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);

/** `[::1]:8772` → `::1`; the requested host without its port. */
const hostIn = (header: string | undefined): string =>
  (header ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1').toLowerCase();

/** The address that a request reached; an IPv4 address also on a socket for both families. */
const reachedAddress = ({ socket }: IncomingMessage): string =>
  (socket.localAddress ?? '').replace(/^::ffff:/, '').toLowerCase();

const isMeant = (request: IncomingMessage, { host, names }: PageAccess): boolean => {
  const wanted = hostIn(request.headers.host);
  if (LOOPBACK_NAMES.has(wanted) || wanted === host.toLowerCase()) return wanted !== '';
  // An address is no name that somebody else could point here.
  return isIP(wanted) === 0 ? names.includes(wanted) : wanted === reachedAddress(request);
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The token of a script (Bearer), or of a browser, which asks a person for it (Basic). */
const tokenIn = (authorization: string): string => {
  const [scheme = '', value = ''] = authorization.split(/\s+/, 2);
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1);
};

const isKnown = (request: IncomingMessage, token: string): boolean =>
  timingSafeEqual(digest(tokenIn(request.headers.authorization ?? '')), digest(token));

/** Why `request` is not served, or `undefined`. */
export const pageRefusal = (
  request: IncomingMessage,
  access: PageAccess,
): PageRefusal | undefined => {
  if (!isMeant(request, access)) {
    return {
      status: 403,
      text: 'Open this page as http://localhost, or allow its name with --inspect-hosts\n',
      headers: {},
    };
  }
  const { token } = access;
  if (token !== undefined && !isKnown(request, token)) {
    return {
      status: 401,
      text: 'Send the token of --inspect-token-file, as a password or as "Bearer"\n',
      headers: { 'www-authenticate': 'Basic realm="tidegate", charset="UTF-8"' },
    };
  }
  if (!URL.canParse(request.url ?? '/', 'http://localhost')) {
    return { status: 400, text: 'The address of the request is not valid\n', headers: {} };
  }
  return undefined;
};
