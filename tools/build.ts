/**
 * `npm run build`: the npm package in `dist/package`; with `--image` the files of the container
 * image in `dist/image`, which the Containerfile takes.
 */
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeImageFiles } from './package/image-files.ts';
import { writePackage } from './package/npm-package.ts';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const { values: { image } } = parseArgs({
  options: { image: { type: 'boolean', default: false } },
});

const folder = join(DIST, image ? 'image' : 'package');
await (image ? writeImageFiles : writePackage)(folder);
process.stdout.write(`${folder}\n`);
