/** Bootstrap user data (BOOT-01). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText, fuzzedTemplate } from '../../../packages/go-template/test/template-grammar.ts';
import { type BootstrapContext, bootstrapRenderer } from '../../../src/domain/bootstrap.ts';
import type { BootstrapAnswer } from '../../../src/domain/session.ts';

const PULL: BootstrapContext = {
  clusterId: 'alpha',
  requirements: [
    { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['eu-1a', 'eu-1b'] },
    { key: 'rack', operator: 'Same', values: [] },
  ],
};

const FUZZED = 10_000;

const rendered = (template: string | undefined, pull = PULL): BootstrapAnswer => {
  const made = bootstrapRenderer(template);
  if (made._tag === 'Unparseable') expect.fail(made.problem);
  return made.render(pull);
};

describe('bootstrapRenderer', () => {
  it('passes the cluster and its requirements to the template', () => {
    const template =
      '{{.ClusterID}}:{{range .Requirements}} {{.Key}} {{.Operator}} {{.Values}}{{end}}';
    expect(rendered(template)).toEqual({
      _tag: 'Rendered',
      userData: 'alpha: topology.kubernetes.io/zone In [eu-1a eu-1b] rack Same []',
    });
  });

  it.each(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Same'] as const)(
    'spells %s so',
    (operator) => {
      const pull = { clusterId: 'alpha', requirements: [{ key: 'k', operator, values: [] }] };
      expect(rendered('{{(index .Requirements 0).Operator}}', pull))
        .toEqual({ _tag: 'Rendered', userData: operator });
    },
  );

  it('without a template gives a #cloud-config comment that names the cluster', () => {
    expect(rendered(undefined)).toEqual({
      _tag: 'Rendered',
      userData: '#cloud-config\n# Cluster "alpha" has no bootstrap template.\n',
    });
  });

  it('accepts an empty template', () => {
    expect(rendered('')).toEqual({ _tag: 'Rendered', userData: '' });
  });

  it('refuses an invalid template with its line and column', () => {
    expect(bootstrapRenderer('#cloud-config\nhost: {{.ClusterID | upper}}\n')).toEqual({
      _tag: 'Unparseable',
      problem: 'line 2, column 22: function … not defined',
    });
  });

  it('answers a template that fails to render with the cause', () => {
    expect(rendered('#cloud-config\nhost: {{.Cluster}}\n')).toEqual({
      _tag: 'Failed',
      problem: "Cannot render the template: line 2, column 9: can't evaluate field … in type …",
    });
  });

  it('renders many pulls with one template, independently', () => {
    const made = bootstrapRenderer(
      '{{$n := .ClusterID}}{{range .Requirements}}{{$n = .Key}}{{end}}{{$n}}',
    );
    if (made._tag === 'Unparseable') expect.fail(made.problem);
    const bare = { clusterId: 'beta', requirements: [] };
    expect(made.render(PULL)).toEqual({ _tag: 'Rendered', userData: 'rack' });
    expect(made.render(bare)).toEqual({ _tag: 'Rendered', userData: 'beta' });
    expect(made.render(PULL)).toEqual({ _tag: 'Rendered', userData: 'rack' });
  });

  it('refuses a template that is larger than any user data', () => {
    expect(bootstrapRenderer('x'.repeat(256 * 1024))._tag).toBe('Ready');
    expect(bootstrapRenderer('x'.repeat(256 * 1024 + 1))).toEqual({
      _tag: 'Unparseable',
      problem: 'the template has more than 262144 characters',
    });
  });

  it(`renders ${FUZZED} random texts without an exception`, () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fuzzedTemplate), (text) => {
        const template = bootstrapRenderer(text);
        if (template._tag === 'Ready') {
          expect(template.render(PULL)._tag).toMatch(/Rendered|Failed/);
        } else expect(template.problem).toMatch(/^line \d+, column \d+: /);
      }),
      { numRuns: FUZZED },
    );
  });
});
