/**
 * The files of the container image: the program, Node, the libraries that Node is linked to, and a
 * user without rights. There is no shell, no package manager and nothing else.
 *
 * Promises: Node is the one that assembles it, which package-lock.json pins by its hash in a
 * checkout; the libraries of C and C++ are those of this machine.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { PROGRAM } from './bundle.ts';
import { writePackage } from './npm-package.ts';

const IN_IMAGE = { node: '/usr/bin/node', program: '/opt/tidegate' } as const;

/**
 * What Node starts with in the image. The only WebAssembly is a parser of HTTP: to optimize it
 * takes 9 MiB and makes it no faster. An interpreter line has room for one option.
 */
export const IMAGE_NODE_OPTION = '--liftoff-only';

const EXECUTABLE = 0o755;
const FOR_ALL = 0o1777;

/** The user and the group of the operator, as numbers: Kubernetes checks `runAsNonRoot` by them. */
export const USER = 65_532;

/** `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)`, and the loader, which has no arrow. */
const LINKED = /^\s*(?:\S+ => )?(?<path>\/\S+) \(0x[0-9a-f]+\)$/gm;

const linkedTo = async (binary: string): Promise<readonly string[]> => {
  const { stdout } = await promisify(execFile)('ldd', [binary]);
  return [...stdout.matchAll(LINKED)].flatMap(({ groups }) => groups?.['path'] ?? '');
};

const put = async (folder: string, path: string, from: string): Promise<void> => {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true });
  await copyFile(await realpath(from), target);
  await chmod(target, EXECUTABLE);
};

/** Writes the files into a folder, which is emptied before. */
export const writeImageFiles = async (folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await writePackage(join(folder, IN_IMAGE.program), {
    node: `${IN_IMAGE.node} ${IMAGE_NODE_OPTION}`,
  });
  await put(folder, IN_IMAGE.node, process.execPath);
  for (const library of await linkedTo(process.execPath)) await put(folder, library, library);
  await mkdir(join(folder, 'etc'));
  await mkdir(join(folder, 'tmp'));
  await chmod(join(folder, 'tmp'), FOR_ALL);
  await writeFile(
    join(folder, 'etc/passwd'),
    `root:x:0:0::/:/none\ntidegate:x:${USER}:${USER}::/tmp:/none\n`,
  );
  await writeFile(join(folder, 'etc/group'), `root:x:0:\ntidegate:x:${USER}:\n`);
  await mkdir(join(folder, 'usr/local/bin'), { recursive: true });
  await symlink(`${IN_IMAGE.program}/${PROGRAM}`, join(folder, 'usr/local/bin/tidegate'));
};
