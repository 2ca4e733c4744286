/** Key pairs as PEM files for child processes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Authority, Pair } from './certificates.ts';

/** Three files and how to change them. */
export interface KeyFiles {
  readonly certificate: string;
  readonly key: string;
  /** `--tls-cert`, `--tls-key` and `--tls-ca` with their paths. */
  readonly flags: Readonly<Record<'tls-cert' | 'tls-key' | 'tls-ca', string>>;
  /** Rewrites certificate and key. */
  readonly rotate: (pair: Pair) => Promise<void>;
}

/** Writes `pair`, and the certificates of those who may have signed the other side's. */
export const writeKeyFiles = async (
  pair: Pair,
  trusted: readonly Authority[],
): Promise<KeyFiles> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-keys-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const certificate = join(folder, 'tls.crt');
  const key = join(folder, 'tls.key');
  const authorities = join(folder, 'ca.crt');
  const rotate = async (next: Pair): Promise<void> => {
    await writeFile(certificate, next.certificate);
    await writeFile(key, next.key);
  };
  await rotate(pair);
  await writeFile(authorities, trusted.map((one) => one.certificate).join(''));
  return {
    certificate,
    key,
    flags: { 'tls-cert': certificate, 'tls-key': key, 'tls-ca': authorities },
    rotate,
  };
};

/** A pair for the operator of `cluster`; a certificate for several clusters is invalid. */
export const clusterPair = (authority: Authority, ...clusters: readonly string[]): Pair =>
  authority.issue({
    commonName: 'operator',
    alternativeNames: [
      'DNS:operator.test',
      ...clusters.map((cluster) => `URI:bigfleet://cluster/${cluster}`),
    ],
  });

/** A pair for a fleet on this machine. */
export const fleetPair = (authority: Authority): Pair =>
  authority.issue({ commonName: 'fleet', alternativeNames: ['DNS:localhost', 'IP:127.0.0.1'] });
