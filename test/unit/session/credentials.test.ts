/** The key pair of the session: validation, and changes. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Effect, Layer } from 'effect';
import { from, lastValueFrom, toArray } from 'rxjs';
import { afterAll, describe, expect, test } from 'vitest';
import type { CredentialsReading } from '../../../src/domain/credentials.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { credentialReader, keyPairProblem } from '../../../src/effects/credentials.ts';
import { credentialChanges } from '../../../src/streams/credential-changes.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { newAuthority } from '../../support/processes/certificates.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OURS = clusterId('prod-1');
const NOW_MS = Date.UTC(2026, 5, 1);
const ca = newAuthority();
const issued = (...alternativeNames: readonly string[]) =>
  ca.issue({ commonName: 'operator', alternativeNames });
const problemOf = (pair: { readonly certificate: string; readonly key: string }) =>
  keyPairProblem({ ...pair, authority: ca.certificate }, OURS, NOW_MS);

describe('wire 8: a key pair is valid only when the shard would accept it', () => {
  test('wire 8: exactly one URI SAN that names this cluster is accepted', () => {
    expect(problemOf(issued('URI:bigfleet://cluster/prod-1', 'DNS:operator.example'))).toBe(
      undefined,
    );
    expect(problemOf(issued('URI:spiffe://x/y', 'URI:bigfleet://cluster/prod-1'))).toBe(undefined);
  });

  test('wire 8: no, another or two cluster URI SANs are refused by name before dialling', () => {
    expect(problemOf(issued('DNS:operator.example'))).toBe(
      'the certificate has no URI SAN "bigfleet://cluster/prod-1"',
    );
    expect(problemOf(issued('URI:bigfleet://cluster/prod-2'))).toBe(
      'the certificate is for "bigfleet://cluster/prod-2", not for "bigfleet://cluster/prod-1"',
    );
    expect(problemOf(issued('URI:bigfleet://cluster/prod-1', 'URI:bigfleet://cluster/b')))
      .toContain('has 2 bigfleet URI SANs ("bigfleet://cluster/prod-1", "bigfleet://cluster/b")');
  });

  // Only URIs of clusters were counted, so that the pair was dialled with and refused for ever.
  test('wire 8: every URI SAN of bigfleet counts, whatever it names', () => {
    expect(problemOf(issued('URI:bigfleet://cluster/prod-1', 'URI:bigfleet://shard/a')))
      .toContain('has 2 bigfleet URI SANs ("bigfleet://cluster/prod-1", "bigfleet://shard/a")');
    expect(problemOf(issued('URI:bigfleet://shard/a'))).toBe(
      'the certificate is for "bigfleet://shard/a", not for "bigfleet://cluster/prod-1"',
    );
  });

  test('wire 8: an expired or future certificate is refused with the date', () => {
    const names = { commonName: 'o', alternativeNames: ['URI:bigfleet://cluster/prod-1'] };
    expect(problemOf(ca.issue({ ...names, notAfterMs: NOW_MS - 1000 }))).toContain('expired on');
    expect(problemOf(ca.issue({ ...names, notBeforeMs: NOW_MS + 1000 }))).toContain(
      'not valid before',
    );
  });

  test('wire 8: mismatched pairs and invalid PEM are refused', () => {
    const [one, two] = [
      issued('URI:bigfleet://cluster/prod-1'),
      issued('URI:bigfleet://cluster/prod-1'),
    ];
    expect(problemOf({ certificate: one.certificate, key: two.key })).toBe(
      'the private key does not match the certificate',
    );
    expect(problemOf({ certificate: '', key: one.key })).toContain('certificate file');
    expect(problemOf({ certificate: one.certificate, key: 'x' })).toContain('key file');
    expect(keyPairProblem({ ...one, authority: '-' }, OURS, NOW_MS)).toContain('CA file');
  });

  // Only the first certificate of each file was read, so that half a bundle replaced a whole one.
  test('wire 8: every certificate of a chain and of the CA file must be whole', () => {
    const pair = issued('URI:bigfleet://cluster/prod-1');
    const half = ca.certificate.slice(0, ca.certificate.length / 2);
    const whole = `${ca.certificate}${newAuthority().certificate}`;
    const broken = ca.certificate.replace(/\n[^\n]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
    const ofAuthority = (authority: string) => keyPairProblem({ ...pair, authority }, OURS, NOW_MS);
    expect(ofAuthority(whole)).toBe(undefined);
    for (const rest of [half, broken]) {
      expect(ofAuthority(`${ca.certificate}${rest}`)).toBe(
        'certificate 2 of the CA file is not valid PEM',
      );
      expect(problemOf({ ...pair, certificate: `${pair.certificate}${rest}` })).toBe(
        'certificate 2 of the certificate file is not valid PEM',
      );
    }
  });
});

describe('credentialReader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-credentials-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const files = {
    certificate: join(folder, 'tls.crt'),
    key: join(folder, 'tls.key'),
    authority: join(folder, 'ca.crt'),
  };
  const reader = credentialReader();
  const read = (clock: Layer.Layer<never> = Layer.empty) =>
    Effect.runPromise(Effect.provide(reader(files, OURS), clock));

  test('names the missing file, and reads a valid pair', async () => {
    const missing = await read();
    expect(missing._tag === 'Unusable' && missing.problem).toContain(files.certificate);
    const pair = issued('URI:bigfleet://cluster/prod-1');
    writeFileSync(files.certificate, pair.certificate);
    writeFileSync(files.key, pair.key);
    writeFileSync(files.authority, ca.certificate);
    const whole = await read();
    expect(whole._tag === 'Usable' && whole.pair.key).toBe(pair.key);
  });

  test('gives up on a disk that does not answer, and reads again once it does', async () => {
    const pair = issued('URI:bigfleet://cluster/prod-1');
    rmSync(files.certificate, { force: true });
    // A pipe without a writer blocks its reader, as a lost network disk does.
    execFileSync('mkfifo', [files.certificate]);
    const time = simulatedTime();
    const clock = clockLayer(time);
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const reading = read(clock);
      await time.advance(10_000);
      expect(await reading).toEqual({
        _tag: 'Unusable',
        problem: `Cannot read "${files.certificate}": not read within 10 s`,
      });
    }
    // Were each attempt a thread of its own, none would be left for this write.
    await writeFile(files.certificate, pair.certificate);
    rmSync(files.certificate);
    writeFileSync(files.certificate, pair.certificate);
    writeFileSync(files.key, pair.key);
    writeFileSync(files.authority, ca.certificate);
    expect((await read())._tag).toBe('Usable');
  });
});

describe('credentialChanges', () => {
  const usable = (fingerprint: string): CredentialsReading => ({
    _tag: 'Usable',
    pair: { certificate: '', key: '', authority: '', fingerprint },
  });
  const unusable = (problem: string): CredentialsReading => ({ _tag: 'Unusable', problem });
  const changesOf = async (...readings: readonly CredentialsReading[]) => {
    const changes = await lastValueFrom(from(readings).pipe(credentialChanges(), toArray()));
    return changes.map((change) =>
      change._tag === 'Accepted'
        ? `Accepted ${change.pair.fingerprint}`
        : `${change._tag} ${change.problem}`
    );
  };

  test('wire 8: a half-written rotation keeps the previous pair, and the whole one replaces it', async () => {
    expect(
      await changesOf(
        usable('a'),
        usable('a'),
        unusable('torn'),
        unusable('torn'),
        usable('b'),
        usable('b'),
      ),
    )
      .toEqual(['Accepted a', 'Kept torn', 'Accepted b']);
  });

  test('reports each problem once, and again after it was fixed', async () => {
    expect(
      await changesOf(
        unusable('x'),
        unusable('x'),
        unusable('y'),
        usable('a'),
        unusable('y'),
        usable('a'),
      ),
    )
      .toEqual(['Refused x', 'Refused y', 'Accepted a', 'Kept y']);
    expect(await changesOf(usable('a'), unusable('x'), usable('a'), unusable('x')))
      .toEqual(['Accepted a', 'Kept x', 'Kept x']);
  });
});
