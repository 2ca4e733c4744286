/** Who is connected: the subject of a client's certificate, on connections with TLS. */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Peer } from '../api.ts';

/** The other end without a certificate. */
const NOBODY: Peer = {};

const listed = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : [value].flat();

/** The other end of a request's connection. */
export const peerOf = ({ socket }: Pick<IncomingMessage, 'socket'>): Peer => {
  if (!(socket instanceof TLSSocket)) return NOBODY;
  const { subject } = socket.getPeerCertificate();
  if (subject === undefined) return NOBODY;
  if (!socket.authorized) return { certificate: 'untrusted' };
  const [commonName = ''] = listed(subject.CN);
  return { certificate: { commonName, organizations: listed(subject.O) } };
};
