/**
 * A rendering takes no more than 50 ms of processor time, whatever the template does. Cause: a step
 * cost as much of the limit of work as a byte, and takes ten times as long, so that a template that
 * counts to a million held up the process for 300 ms.
 */
import { describe, expect, it } from 'vitest';
import { parseTemplate, renderTemplate } from '../src/template.ts';

const STALL_MS = 50;
const TIMES = 6;

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** The least of some times: a busy machine lengthens single ones. */
const leastMs = (text: string): number => {
  const parsed = parseTemplate('t', text);
  if (parsed._tag === 'Unparseable') throw new Error(parsed.message);
  return Math.min(...Array.from({ length: TIMES }, () => {
    const startMs = cpuMs();
    renderTemplate(parsed.template, { s: 'x', l: ['a', 'b'] });
    return cpuMs() - startMs;
  }));
};

describe.runIf('threadCpuUsage' in process)('a template', () => {
  it.each([
    ['counts', '{{range 1000000}}x{{end}}'],
    ['counts and says nothing', '{{range 1000000}}{{end}}'],
    [
      'calls itself',
      '{{define "a"}}{{range 99}}{{template "b" .}}{{end}}{{end}}' +
      '{{define "b"}}{{range 9999}}{{end}}{{end}}{{range 999}}{{template "a"}}{{end}}',
    ],
    ['calculates', '{{range 1000000}}{{if and (lt . 7) (eq . 3) (not .)}}{{end}}{{end}}'],
    ['prints numbers', '{{range 1000000}}{{printf "%08.3f %q %x" 1.5 "ab" "cd"}}{{end}}'],
    ['builds long strings', '{{range 99999}}{{$x := printf "%900000d" 1}}{{end}}'],
    ['escapes', '{{$x := printf "%100000d" 1}}{{range 99}}{{$x | html | js | urlquery}}{{end}}'],
    ['declares', '{{range 1000000}}{{$a := .}}{{$b := $a}}{{$a = $b}}{{end}}'],
    ['compares', '{{$a := printf "%900000d" 1}}{{range 99999}}{{if eq $a $a}}{{end}}{{end}}'],
  ])('that %s without end is ended in time', (_, text) => {
    expect(leastMs(text)).toBeLessThan(STALL_MS);
  });
});
