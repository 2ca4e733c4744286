/**
 * Reads the key pair of the session and whether it can be used to dial.
 *
 * Promises: never fails and always ends; every problem is one sentence that names the file or the
 * field. The pair is usable when key and certificate belong together, the certificate is valid now,
 * and it carries exactly one `bigfleet://` URI, which names our cluster (WIRE-08): the shard would
 * refuse anything else, so it is not even dialled.
 */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Clock, Context, Effect, Layer } from 'effect';
import type { CredentialsReading, KeyPair } from '../domain/credentials.ts';
import type { ClusterId } from '../domain/ids.ts';
import { limitedRead } from './limited-read.ts';

/** The paths of the PEM files (`--tls-cert`, `--tls-key`, `--tls-ca`). */
export interface CredentialFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const FLEET_URI = 'bigfleet://';
const CLUSTER_URI = `${FLEET_URI}cluster/`;

const parsed = <T>(parse: () => T): T | undefined => {
  try {
    return parse();
  } catch {
    return undefined;
  }
};

/** The URIs of a `subjectAltName` as Node prints it; values with a comma are quoted. */
const urisOf = (subjectAltName: string | undefined): readonly string[] =>
  [...(subjectAltName ?? '').matchAll(/(?:^|, )URI:("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(([, uri]) => {
    const text = uri ?? '';
    return text.startsWith('"') ? String(parsed(() => JSON.parse(text)) ?? text) : text;
  });

const identityProblem = (
  certificate: X509Certificate,
  cluster: ClusterId,
): string | undefined => {
  const wanted = `${CLUSTER_URI}${cluster}`;
  const found = urisOf(certificate.subjectAltName).filter((uri) => uri.startsWith(FLEET_URI));
  if (found.length === 0) return `the certificate has no URI SAN "${wanted}"`;
  if (found.length > 1) {
    return `the certificate has ${found.length} bigfleet URI SANs (${
      found.map((uri) => `"${uri}"`).join(', ')
    }) where exactly one is allowed, "${wanted}"`;
  }
  return found[0] === wanted
    ? undefined
    : `the certificate is for "${found[0]}", not for "${wanted}"`;
};

const validityProblem = (certificate: X509Certificate, nowMs: number): string | undefined => {
  if (nowMs > Date.parse(certificate.validTo)) {
    return `the certificate expired on ${certificate.validTo}`;
  }
  return nowMs < Date.parse(certificate.validFrom)
    ? `the certificate is not valid before ${certificate.validFrom}`
    : undefined;
};

const CERTIFICATE = /(?=-----BEGIN CERTIFICATE-----)/;

/** Chains and bundles count whole: half a bundle would end a session that the whole one opens. */
const certificatesProblem = (text: string, file: string): string | undefined => {
  const broken = text.split(CERTIFICATE).filter((part) => part.startsWith('-----BEGIN CERT'))
    .findIndex((part) => parsed(() => new X509Certificate(part)) === undefined);
  return broken === -1 ? undefined : `certificate ${broken + 1} of the ${file} is not valid PEM`;
};

/** Why `pair` cannot be used to dial at `nowMs`, or `undefined`. */
export const keyPairProblem = (
  pair: Pick<KeyPair, 'certificate' | 'key' | 'authority'>,
  cluster: ClusterId,
  nowMs: number,
): string | undefined => {
  const certificate = parsed(() => new X509Certificate(pair.certificate));
  if (certificate === undefined) return 'the certificate file contains no PEM certificate';
  const key: KeyObject | undefined = parsed(() => createPrivateKey(pair.key));
  if (key === undefined) return 'the key file contains no PEM private key';
  if (parsed(() => new X509Certificate(pair.authority)) === undefined) {
    return 'the CA file contains no PEM certificate';
  }
  if (parsed(() => certificate.checkPrivateKey(key)) !== true) {
    return 'the private key does not match the certificate';
  }
  return certificatesProblem(pair.certificate, 'certificate file') ??
    certificatesProblem(pair.authority, 'CA file') ??
    validityProblem(certificate, nowMs) ?? identityProblem(certificate, cluster);
};

const unusable = (problem: string): CredentialsReading => ({ _tag: 'Unusable', problem });

/** Kubelet writes the files to memory; more time means a disk that does not answer. */
const READ_MS_MAX = 10_000;

type Reader = Effect.Effect<string, string>;

const readerOf = (path: string): Reader =>
  limitedRead({
    read: () => readFile(path, 'utf8'),
    limitMs: READ_MS_MAX,
    problemOf: (cause) => cause instanceof Error ? cause.message : String(cause),
  }).pipe(Effect.mapError((problem) => `Cannot read "${path}": ${problem}`));

const readCredentials = (
  files: CredentialFiles,
  cluster: ClusterId,
  readText: (path: string) => Reader,
): Effect.Effect<CredentialsReading> =>
  Effect.gen(function* () {
    const certificate = yield* readText(files.certificate);
    const key = yield* readText(files.key);
    const authority = yield* readText(files.authority);
    const nowMs = yield* Clock.currentTimeMillis;
    const problem = keyPairProblem({ certificate, key, authority }, cluster, nowMs);
    if (problem !== undefined) {
      return unusable(`Cannot use the key pair "${files.certificate}": ${problem}`);
    }
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([certificate, key, authority])).digest('hex');
    const usable: CredentialsReading = {
      _tag: 'Usable',
      pair: { certificate, key, authority, fingerprint },
    };
    return usable;
  }).pipe(Effect.catch((problem) => Effect.succeed(unusable(problem))));

/** The key files of the session. */
export class Credentials extends Context.Service<Credentials, {
  readonly read: (
    files: CredentialFiles,
    cluster: ClusterId,
  ) => Effect.Effect<CredentialsReading>;
}>()('tidegate/Credentials') {}

/** A reader of key files that remembers which reads are still running. */
export const credentialReader = (): Credentials['Service']['read'] => {
  const readers = new Map<string, Reader>();
  const readText = (path: string): Reader => {
    const reader = readers.get(path) ?? readerOf(path);
    readers.set(path, reader);
    return reader;
  };
  return (files, cluster) => readCredentials(files, cluster, readText);
};

/** Key files on this machine's disk. */
export const credentialsLayer: Layer.Layer<Credentials> = Layer.sync(Credentials, () => ({
  read: credentialReader(),
}));
