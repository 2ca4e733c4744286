/**
 * Makes key pairs for tests: a CA, and certificates that it signed, as PEM texts.
 *
 * Promises: nothing is kept in the repository, so nothing expires; no program is needed. Just
 * enough DER for X.509 v3 with subjectAltName on P-256 keys.
 */
import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

type Der = Uint8Array;

const tlv = (tag: number, ...parts: readonly Der[]): Der => {
  const body = Buffer.concat(parts);
  const lengthBytes: number[] = [];
  for (let rest = body.length; rest > 0; rest = Math.floor(rest / 256)) {
    lengthBytes.unshift(rest % 256);
  }
  const length = body.length < 128 ? [body.length] : [0x80 + lengthBytes.length, ...lengthBytes];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};

const sequence = (...parts: readonly Der[]): Der => tlv(0x30, ...parts);
const set = (...parts: readonly Der[]): Der => tlv(0x31, ...parts);
const text = (tag: number, value: string): Der => tlv(tag, Buffer.from(value, 'latin1'));
const integer = (bytes: Uint8Array): Der => tlv(0x02, bytes);
const bits = (bytes: Uint8Array): Der => tlv(0x03, Buffer.from([0]), bytes);
const octets = (bytes: Uint8Array): Der => tlv(0x04, bytes);
const truth = tlv(0x01, Buffer.from([0xff]));

const identifier = (dotted: string): Der => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      groups.unshift(128 + left % 128);
    }
    bytes.push(...groups);
  }
  return tlv(0x06, Buffer.from(bytes));
};

const COMMON_NAME = identifier('2.5.4.3');
const ORGANIZATION = identifier('2.5.4.10');
const ECDSA_SHA256 = sequence(identifier('1.2.840.10045.4.3.2'));

const nameOf = (commonName: string, organizations: readonly string[] = []): Der =>
  sequence(
    ...organizations.map((name) => set(sequence(ORGANIZATION, text(0x0c, name)))),
    set(sequence(COMMON_NAME, text(0x0c, commonName))),
  );

const instant = (epochMs: number): Der =>
  text(0x18, new Date(epochMs).toISOString().replace(/[-:T]|\.\d+/g, ''));

const extension = (oid: string, value: Der, critical = false): Der =>
  sequence(identifier(oid), ...(critical ? [truth] : []), octets(value));

/** `URI:…`, `DNS:…` and `IP:…` (four numbers). */
const alternativeName = (name: string): Der => {
  const [kind, ...rest] = name.split(':');
  const value = rest.join(':');
  if (kind === 'URI') return text(0x86, value);
  if (kind === 'DNS') return text(0x82, value);
  return tlv(0x87, Buffer.from(value.split('.').map(Number)));
};

const pem = (label: string, der: Uint8Array): string => {
  const lines = Buffer.from(der).toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};

/** A certificate and its key. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** The fields of a certificate. Times are milliseconds since the epoch. */
export interface Wanted {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly alternativeNames: readonly string[];
  readonly notBeforeMs?: number;
  readonly notAfterMs?: number;
}

/** A CA that signs every request. */
export interface Authority {
  readonly certificate: string;
  readonly issue: (wanted: Wanted) => Pair;
}

const DAY_MS = 86_400_000;
const WHEN_MS = Date.UTC(2026, 0, 1);
const YEARS = 365 * DAY_MS;

interface Signed extends Wanted {
  readonly issuer: string;
  readonly authority: boolean;
}

const certify = (publicKey: KeyObject, signer: KeyObject, wanted: Signed): string => {
  const constraints = wanted.authority
    ? [extension('2.5.29.19', sequence(truth), true)]
    : [extension('2.5.29.17', sequence(...wanted.alternativeNames.map(alternativeName)))];
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(wanted.issuer),
    sequence(
      instant(wanted.notBeforeMs ?? WHEN_MS - 20 * YEARS),
      instant(wanted.notAfterMs ?? WHEN_MS + 80 * YEARS),
    ),
    nameOf(wanted.commonName, wanted.organizations),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...constraints)),
  );
  const signature = sign('sha256', body, signer);
  return pem('CERTIFICATE', sequence(body, ECDSA_SHA256, bits(signature)));
};

const newKey = (): { readonly key: KeyObject; readonly pem: string } => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return { key: privateKey, pem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
};

/** A new CA. */
export const newAuthority = (commonName = 'test authority'): Authority => {
  const root = newKey();
  return {
    certificate: certify(createPublicKey(root.key), root.key, {
      commonName,
      issuer: commonName,
      alternativeNames: [],
      authority: true,
    }),
    issue: (wanted) => {
      const leaf = newKey();
      return {
        certificate: certify(createPublicKey(leaf.key), root.key, {
          ...wanted,
          issuer: commonName,
          authority: false,
        }),
        key: leaf.pem,
      };
    },
  };
};
