/** How the shard is dialled. */
import { expect, test } from 'vitest';
import { KEEPALIVE_MS } from '../../../src/effects/shard-call.ts';
import { FRAME_BYTES_MAX } from '../../../src/effects/rollup-frame.ts';

const GO_ENFORCEMENT_MS = 5 * 60 * 1000;

test('wire 6: keepalive pings are further apart than a Go server enforces', () => {
  expect(KEEPALIVE_MS).toBeGreaterThan(GO_ENFORCEMENT_MS);
});

test('wire 2: frames go up to 256 MiB in both directions', () => {
  expect(FRAME_BYTES_MAX).toBe(256 * 1024 * 1024);
});
