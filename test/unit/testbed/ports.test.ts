/** Reserved ports. */
import { expect, it } from 'vitest';
import { freePort } from '../../../tools/testbed/ports.ts';

/** So many of twelve thousand that chance alone gives dozens of duplicates. */
const PORTS = 1000;

it('gives no port twice', async () => {
  const ports = [];
  for (let given = 0; given < PORTS; given++) ports.push(await freePort());
  expect(new Set(ports).size).toBe(PORTS);
});
