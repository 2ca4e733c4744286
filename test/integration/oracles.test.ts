/** The Go oracles of the tests, and the modules that pin the versions of what is built. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../../tools/testbed/commands.ts';
import { moduleFolder, oracle } from '../../tools/testbed/go-builds.ts';
import { readObservabilityModule } from '../../tools/testbed/observability.ts';
import { describeWithGo, describeWithReceivers } from '../support/api/testbed.ts';

const BUILD_TIMEOUT_MS = 10 * 60 * 1000;

const go = (...args: readonly string[]) => runCommand('go', args, { cwd: moduleFolder });

/** On a machine that has built nothing yet Go also reports what it downloads. */
const vetted = async (cwd: string, packages: string) => {
  const { code, stderr } = await runCommand('go', ['vet', packages], { cwd });
  const complaints = stderr.split('\n').filter((line) => !/^(?:go: downloading .*)?$/.test(line));
  return { code, complaints };
};

const names = (await readdir(join(moduleFolder, 'oracle'))).sort();

describeWithGo('Go oracles', () => {
  it.each(names)('%s builds', async (name) => {
    expect(await oracle(name, () => {})).toMatch(new RegExp(`/${name}$`));
  }, BUILD_TIMEOUT_MS);

  it('are vetted', async () => {
    expect(await vetted(moduleFolder, './oracle/...')).toEqual({ code: 0, complaints: [] });
  }, BUILD_TIMEOUT_MS);

  it('are formatted by gofmt', async () => {
    const unformatted = await runCommand('gofmt', ['-l', 'oracle'], { cwd: moduleFolder });
    expect(unformatted).toMatchObject({ code: 0, stdout: '' });
  });

  it('need no module that go.mod and go.sum do not pin', async () => {
    expect(await go('mod', 'tidy', '-diff')).toMatchObject({ code: 0, stdout: '' });
  }, BUILD_TIMEOUT_MS);

  it('quantity adds as Kubernetes does', async () => {
    const program = await oracle('quantity', () => {});
    const input = '["500m","500m"]\n["1Gi","512Mi"]\n["1","x"]\n';
    const { stdout } = await runCommand(program, [], { input });
    expect(stdout.trim().split('\n').map((line) => JSON.parse(line))).toEqual([
      { canonical: '1', nanos: '1000000000' },
      { canonical: '1536Mi', nanos: '1610612736000000000' },
      { error: expect.stringContaining('must match the regular expression'), index: 1 },
    ]);
  });

  it('template renders as Go does', async () => {
    const program = await oracle('template', () => {});
    const questions = [
      { template: '{{range .A}}{{.}},{{end}}', data: { A: [1, 2.5, 'x'] } },
      { template: '{{.Nope}}', context: 'bootstrap', data: { ClusterID: 'alpha' } },
    ];
    const input = questions.map((question) => `${JSON.stringify(question)}\n`).join('');
    const { stdout } = await runCommand(program, [], { input });
    expect(stdout.trim().split('\n').map((line) => JSON.parse(line))).toMatchObject([
      { output: '1,2.5,x,' },
      { error: expect.stringContaining("can't evaluate field Nope") },
    ]);
  });
});

describeWithReceivers('The module with Prometheus and the Collector', () => {
  it('is vetted and formatted by gofmt', async () => {
    const { folder: cwd } = await readObservabilityModule();
    expect(await vetted(cwd, './...')).toEqual({ code: 0, complaints: [] });
    const unformatted = await runCommand('gofmt', ['-l', '.'], { cwd });
    expect(unformatted).toMatchObject({ code: 0, stdout: '' });
  }, BUILD_TIMEOUT_MS);

  it('needs no module that go.mod and go.sum do not pin', async () => {
    const { folder: cwd } = await readObservabilityModule();
    const tidied = await runCommand('go', ['mod', 'tidy', '-diff'], { cwd });
    expect(tidied).toMatchObject({ code: 0, stdout: '' });
  }, BUILD_TIMEOUT_MS);
});
