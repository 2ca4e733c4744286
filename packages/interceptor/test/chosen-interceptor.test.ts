/**
 * The arguments of the program. A template that was YAML, had a slip or no `spec` became an empty
 * Job: the program started, the API server refused the Job of each pod, and each pod was evicted.
 */
import { describe, expect, test } from 'vitest';
import { chosenInterceptor } from '../src/chosen-interceptor.ts';
import { readTemplate } from '../src/command/job-template.ts';
import { realTime } from '../src/real-time.ts';

const NAME = 'flush.example.com';
const SPEC = { template: { spec: { containers: [{ name: 'flush', image: 'flush' }] } } };

const jobWith = (fields: object): string => JSON.stringify({ kind: 'Job', spec: SPEC, ...fields });

const chosen = (args: readonly string[], text: string) =>
  chosenInterceptor(args, {
    client: {
      request: () => Promise.reject(new Error('nothing is sent')),
      watch: () => {
        throw new Error('nothing is watched');
      },
    },
    time: realTime,
    seed: 1,
    log: () => {},
    readText: () => text,
  });

const problemOf = (text: string) => {
  const choice = chosen(['command', NAME, 'flush.json'], text);
  return choice._tag === 'Refused' ? choice.problem : 'chosen';
};

describe('the program', () => {
  test('runs surge, and a command with its template', () => {
    expect(chosen(['surge'], '')).toMatchObject({ definition: { name: 'surge.tidegate.dev' } });
    expect(chosen(['command', NAME, 'flush.json'], jobWith({})))
      .toMatchObject({ _tag: 'Chosen', definition: { name: NAME } });
  });

  test('refuses other arguments with its usage', () => {
    for (const args of [[], ['flush'], ['command'], ['command', NAME]]) {
      const usage = expect.stringMatching(/^Usage: /);
      expect(chosen(args, jobWith({}))).toEqual({ _tag: 'Refused', problem: usage });
    }
  });

  test('refuses a name that is none of an interceptor', () => {
    expect(chosen(['command', 'flush', 'flush.json'], jobWith({}))).toEqual({
      _tag: 'Refused',
      problem: expect.stringMatching(/^Cannot define interceptor "flush": its name needs three/),
    });
  });

  test.each([
    ['YAML', 'kind: Job\nspec:\n  template: {}\n'],
    ['JSON with a slip', jobWith({}).slice(0, -1)],
    ['an empty file', ''],
  ])('refuses %s as a template in one line with a remedy', (_, text) => {
    expect(problemOf(text)).toMatch(
      /^Cannot use the template "flush.json": it is not JSON: .+; convert YAML with "kubectl .+"$/,
    );
  });

  test.each([
    ['without a spec', { spec: undefined }],
    ['whose containers are elsewhere', { spec: { containers: [{ name: 'flush' }] } }],
    ['with no container', { spec: { template: { spec: { containers: [] } } } }],
  ])('refuses a template %s', (_, fields) => {
    expect(problemOf(jobWith(fields))).toMatch(
      /^Cannot use the template "flush.json": spec.template.spec.containers has no container; .+/,
    );
  });

  test('refuses a template with a label that the API server would refuse', () => {
    expect(problemOf(jobWith({ metadata: { labels: { tier: 1 } } })))
      .toMatch(/^Cannot use the template "flush.json": a label or annotation is not text; .+/);
  });
});

describe('a template', () => {
  test('has the labels and annotations of its file, and nothing else of its metadata', () => {
    const labels = { team: 'storage' };
    const annotations = { note: 'kept' };
    const metadata = { name: 'flush', creationTimestamp: null, labels, annotations };
    expect(readTemplate('flush.json', () => jobWith({ metadata }))).toEqual({
      _tag: 'Template',
      template: { metadata: { labels, annotations }, spec: SPEC },
    });
  });

  test('that cannot be read is refused with its file and the cause', () => {
    const read = () => {
      throw new Error('ENOENT: no such file');
    };
    expect(readTemplate('flush.json', read)).toEqual({
      _tag: 'Refused',
      problem: 'Cannot read the template "flush.json": ENOENT: no such file; ' +
        'name a file with a Job as JSON',
    });
  });
});
