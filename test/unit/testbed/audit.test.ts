/** Reading the API server's audit log. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { microTimeMs, readAudit } from '../../../tools/testbed/audit.ts';

const line = (changes: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({
    stage: 'ResponseComplete',
    requestURI: '/api/v1/nodes/a',
    verb: 'patch',
    user: { username: 'tidegate' },
    userAgent: 'tidegate/0.1.0',
    objectRef: { resource: 'nodes', name: 'a', apiVersion: 'v1' },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: '2026-11-21T08:00:00.123456Z',
    stageTimestamp: '2026-11-21T08:00:00.125000Z',
    ...changes,
  });

describe('audit log', () => {
  it('keeps the microseconds of a time', () => {
    expect(microTimeMs('2026-11-21T08:00:00.123456Z')).toBeCloseTo(1795248000123.456, 3);
    expect(microTimeMs('2026-11-21T08:00:00Z')).toBe(1795248000000);
  });

  it('is read without other stages and without a truncated last line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-audit-'));
    const path = join(folder, 'audit.log');
    const lines = [
      line({}),
      line({ stage: 'RequestReceived' }),
      line({ verb: 'get' }).slice(0, 40),
    ];
    await writeFile(path, lines.join('\n'));
    expect(await readAudit(path)).toEqual([{
      user: 'tidegate',
      userAgent: 'tidegate/0.1.0',
      verb: 'patch',
      uri: '/api/v1/nodes/a',
      apiGroup: '',
      resource: 'nodes',
      subresource: '',
      namespace: '',
      name: 'a',
      uid: '',
      code: 200,
      isUnauthorized: false,
      receivedMs: microTimeMs('2026-11-21T08:00:00.123456Z'),
      answeredMs: microTimeMs('2026-11-21T08:00:00.125000Z'),
      requestObject: undefined,
    }]);
    await rm(folder, { recursive: true });
  });

  it('tells what lacks a right from what is refused otherwise', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-audit-'));
    const path = join(folder, 'audit.log');
    const forbidden = { responseStatus: { code: 403 } };
    const decided = (decision: string) => ({
      ...forbidden,
      annotations: { 'authorization.k8s.io/decision': decision },
    });
    const lines = [line(forbidden), line(decided('allow')), line(decided('forbid'))];
    await writeFile(path, `${lines.join('\n')}\n`);
    expect((await readAudit(path)).map((one) => one.isUnauthorized)).toEqual([false, false, true]);
    await rm(folder, { recursive: true });
  });

  it('is empty before the server has written one', async () => {
    expect(await readAudit('/nowhere/audit.log')).toEqual([]);
  });
});
