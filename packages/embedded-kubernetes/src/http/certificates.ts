/**
 * A certificate for an HTTPS server that issues itself.
 *
 * Promises: it is valid for the loopback addresses, `localhost` and the given host; it is its own
 * authority, so a client that trusts it trusts nothing else. Source: RFC 5280.
 */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';

/** A certificate and its key in PEM. */
export interface ServerCertificate {
  readonly certificate: string;
  readonly key: string;
}

const TAG = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  object: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
  time: 0x18,
  boolean: 0x01,
  version: 0xa0,
  extensions: 0xa3,
  dnsName: 0x82,
  address: 0x87,
} as const;

/** Object identifiers, encoded. */
const OBJECT = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
} as const;

const LONG_FORM = 0x80;

const lengthOf = (length: number): Buffer => {
  if (length < LONG_FORM) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([LONG_FORM | bytes.length]), bytes]);
};

/** Tag, length and value of DER. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(value.length), value]);
};

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(TAG.sequence, ...parts);
const object = (hex: string): Buffer => der(TAG.object, Buffer.from(hex, 'hex'));
const bitString = (bytes: Uint8Array): Buffer => der(TAG.bitString, Buffer.from([0]), bytes);

const nameOf = (commonName: string): Buffer =>
  sequence(
    der(TAG.set, sequence(object(OBJECT.commonName), der(TAG.utf8, Buffer.from(commonName)))),
  );

/** `20260102030405Z`. */
const timeOf = (epochMs: number): Buffer =>
  der(
    TAG.time,
    Buffer.from(new Date(epochMs).toISOString().replace(/\.\d+/, '').replaceAll(/[-:T]/g, '')),
  );

const addressBytes = (address: string): Buffer => {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string): readonly string[] => text === '' ? [] : text.split(':');
  const [first, last] = [groups(head), groups(tail ?? '')];
  const missing = Array.from({ length: 8 - first.length - last.length }, () => '0');
  const all = tail === undefined ? first : [...first, ...missing, ...last];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
};

const alternative = (host: string): Buffer =>
  isIP(host) === 0 ? der(TAG.dnsName, Buffer.from(host)) : der(TAG.address, addressBytes(host));

const extension = (id: string, isCritical: boolean, value: Uint8Array): Buffer =>
  sequence(
    object(id),
    ...(isCritical ? [der(TAG.boolean, Buffer.from([0xff]))] : []),
    der(TAG.octetString, value),
  );

const LOCAL = ['127.0.0.1', '::1', 'localhost'];
const SERIAL_BYTES = 15;
const DAY_MS = 24 * 3600 * 1000;
const LIFETIME_MS = 3650 * DAY_MS;

const pem = (bytes: Uint8Array): string => {
  const lines = Buffer.from(bytes).toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
};

/** A certificate for a server at `host`; an empty host is every address of this machine. */
export const serverCertificate = (host: string, nowMs: number): ServerCertificate => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const serial = createHash('sha256').update(spki).digest().subarray(0, SERIAL_BYTES);
  const [algorithm, name] = [sequence(object(OBJECT.ecdsaWithSha256)), nameOf('tidegate-embedded')];
  const hosts = [...new Set([...LOCAL, ...(host === '' ? [] : [host])])];
  const isAuthority = sequence(der(TAG.boolean, Buffer.from([0xff])));
  const body = sequence(
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1]), serial),
    algorithm,
    name,
    sequence(timeOf(nowMs - DAY_MS), timeOf(nowMs + LIFETIME_MS)),
    name,
    spki,
    der(
      TAG.extensions,
      sequence(
        extension(OBJECT.basicConstraints, true, isAuthority),
        extension(OBJECT.subjectAltName, false, sequence(...hosts.map(alternative))),
      ),
    ),
  );
  const whole = sequence(body, algorithm, bitString(sign('sha256', body, privateKey)));
  return {
    certificate: pem(whole),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
};
