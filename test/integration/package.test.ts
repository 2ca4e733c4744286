/** What is shipped: the npm package, and the files of the container image. */
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { listOrEmptyAt, parseJson, textAt } from '../../src/domain/json.ts';
import { PROGRAM } from '../../tools/package/bundle.ts';
import { USER, writeImageFiles } from '../../tools/package/image-files.ts';
import { packageVersion, writePackage } from '../../tools/package/npm-package.ts';
import { shippedPackages } from '../../tools/shipped-packages.ts';
import { binaries } from '../../tools/testbed/binaries.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { supervise } from '../../tools/testbed/processes.ts';
import { clusterClient } from '../support/api/cluster-client.ts';
import { accountKubeconfig, documentedAccounts } from '../support/api/service-account.ts';
import { describeWithBinaries, describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { must, newFolder, NODE } from '../support/processes/required-command.ts';

const IMAGE_BYTES_MAX = 150 * 1024 * 1024;
const PATIENT_MS = 120_000;

/** The package in a project of its own, as `npm install` puts it there without a network. */
const installed = async (): Promise<string> => {
  const [folder, project] = [join(await newFolder(), 'package'), await newFolder()];
  await writePackage(folder);
  const flags = ['--offline', '--no-audit', '--no-fund', '--install-links'];
  await must('npm', ['install', ...flags, folder], { cwd: project });
  return join(project, 'node_modules');
};

describeWithBinaries('the npm package', () => {
  test('installs without dependencies, and runs on Node, on Deno and as a plugin of kubectl', async () => {
    const modules = await installed();
    expect((await readdir(modules)).filter((name) => !name.startsWith('.'))).toEqual(['tidegate']);
    const bin = join(modules, '.bin');
    const version = `tidegate ${await packageVersion()}`;
    const env = { PATH: `${bin}:${NODE}:${process.env['PATH']}` };
    expect(await must(join(bin, 'tidegate'), ['version'], { env })).toContain(version);
    const { kubectl } = await binaries(() => {});
    expect(await must(kubectl, ['tidegate', 'version'], { env })).toContain(version);
    const program = join(modules, 'tidegate', PROGRAM);
    expect(await must(join(NODE, 'deno'), ['run', '-A', program, 'version'])).toContain(version);
    const notices = await readFile(join(modules, 'tidegate/THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const { name, version: of, path } of shippedPackages()) {
      if (path.includes('node_modules/')) expect(notices).toContain(`${name} ${of}: `);
    }
  });
});

/** The bytes of all files in a folder. */
const bytesIn = async (folder: string): Promise<number> => {
  const names = await readdir(folder, { recursive: true });
  const sizes = names.map(async (name) => (await lstat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

/** Puts the files of a service account where the kubelet puts them; returns the server. */
const asPod = async (root: string, kubeconfig: unknown): Promise<URL> => {
  const [user] = listOrEmptyAt(kubeconfig, 'users');
  const [cluster] = listOrEmptyAt(kubeconfig, 'clusters');
  const folder = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'token'), textAt(user, 'user', 'token') ?? '');
  const authority = textAt(cluster, 'cluster', 'certificate-authority-data') ?? '';
  await writeFile(join(folder, 'ca.crt'), Buffer.from(authority, 'base64'));
  return new URL(textAt(cluster, 'cluster', 'server') ?? '');
};

describeWithTestbed('the files of the container image', {}, (bed) => {
  beforeAll(() => bed().installCrds());

  test('are small, and run an operator as a user without rights', async () => {
    const root = join(await newFolder(), 'image');
    await writeImageFiles(root);
    expect(await bytesIn(root)).toBeLessThan(IMAGE_BYTES_MAX);
    await bed().apply(await documentedAccounts());
    const account = 'tidegate-evictions';
    const kubeconfig = await accountKubeconfig(bed(), await clusterClient(bed()), account);
    const server = await asPod(root, parseJson(await readFile(kubeconfig, 'utf8')));
    const port = await freePort();
    const lines: string[] = [];
    const operator = supervise({
      name: 'operator of the image',
      file: 'chroot',
      args: [
        `--userspec=${USER}:${USER}`,
        ...[root, '/usr/local/bin/tidegate', 'operator', '--roles=evictions'],
        ...['--lease-name=image', '--lease-namespace=tidegate'],
        ...[`--health-addr=127.0.0.1:${port}`, '--metrics-addr=0'],
      ],
      cwd: root,
      env: {
        KUBECONFIG: '',
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
      },
      onLine: (line) => void lines.push(line),
    });
    onTestFinished(async () => void await operator.stop());
    await eventually(async () => {
      if (!operator.isRunning()) throw new Error(lines.join('\n'));
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return answer?.ok === true;
    }, { what: 'the operator to be ready', timeoutMs: PATIENT_MS });
    expect(await operator.stop()).toBe(0);
  });
});
