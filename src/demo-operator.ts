/**
 * The operator of a demo: `main.ts` as a process that does not outlive the demo.
 *
 * Promises: it ends when its stdin ends, and removes the demo's folder, its first argument. The
 * demo holds the other end of that pipe, so this happens however the demo is killed.
 */
import { rmSync } from 'node:fs';
import process from 'node:process';

const [folder] = process.argv.splice(2, 1);

const endWithDemo = (): void => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  process.exit(1);
};

process.stdin.on('end', endWithDemo);
process.stdin.on('error', endWithDemo);
process.stdin.resume();

await import('./main.ts');
