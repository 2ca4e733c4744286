/** Bootstrap templates: parsed, and rendered for a pull. */
import { type BootstrapContext, bootstrapRenderer } from '../../../src/domain/bootstrap.ts';
import { expectThat, type FuzzTarget, masked, smallerText } from '../fuzz-target.ts';
import { mutateText } from '../mutation.ts';

/** Stands for a join token: no problem may quote it. */
const SECRET = 'abcdef.0123456789abcdef';
const PROBLEM_MAX = 400;
/** What the engine lets a rendering give. */
const OUTPUT_MAX = 256 * 1024;

const SEEDS: readonly string[] = [
  `#cloud-config\nruncmd:\n- kubeadm join --token ${SECRET} {{.ClusterID}}\n`,
  '{{range $i, $r := .Requirements}}{{if gt $i 0}},{{end}}{{$r.Key}}={{index $r.Values 0}}{{end}}',
  '{{with .Requirements}}{{len .}}{{else}}none{{end}}{{/* comment */}}',
  '{{define "label"}}{{.Key}} {{.Operator | printf "%-10q"}}{{end}}' +
  '{{range .Requirements}}{{template "label" .}}{{- "" -}}\n{{end}}',
  '{{$all := ""}}{{range .Requirements}}{{$all = printf "%s%v" $all .Values}}{{end}}{{$all}}',
  `{{if and (eq .ClusterID "prod-1") (not false)}}{{print "${SECRET}" | html | js}}{{end}}`,
  '{{block "tail" .}}{{slice .ClusterID 0 2}}{{end}}{{break}}',
  '{{printf "%08.3f|%+d|%x|%U|%t" 3.14 42 "hex" 0x1F600 true}}',
  '{{range .Requirements}}{{range .Values}}{{continue}}{{end}}{{else}}{{end}}',
];

const CONTEXTS: readonly BootstrapContext[] = [
  {
    clusterId: 'prod-1',
    requirements: [
      { key: 'zone', operator: 'In', values: ['a', 'b'] },
      { key: 'gpu', operator: 'DoesNotExist', values: [] },
    ],
  },
  {
    clusterId: 'x'.repeat(256),
    requirements: Array.from({ length: 128 }, (_, index) => ({
      key: `key-${index}`,
      operator: 'In',
      values: Array.from({ length: 50 }, (_, value) => `value-${value}`),
    })),
  },
];

/** Bootstrap templates. */
export const TEMPLATES: FuzzTarget = {
  name: 'templates',
  seeds: SEEDS,
  words: [
    ...['{{', '}}', '{{-', '-}}', '{{/*', '*/}}', '{{end}}', '{{else}}', '{{else if .}}', '| '],
    ...['{{if .ClusterID}}', '{{range .Requirements}}', '{{with $}}', '{{define "a"}}', '`', '"'],
    ...['{{template "a" .}}', '{{block "a" .}}', '{{break}}', '{{continue}}', '$x := ', '$x = '],
    ...['.ClusterID', '.Requirements', '.Key', '.Values', '.Missing', '$', '.', '(', ')', ', '],
    ...['index ', 'slice ', 'len ', 'printf "%s" ', 'printf "%999999d" 1', 'call ', 'not ', 'eq '],
    ...['html ', 'js ', 'urlquery ', 'print ', "'x'", '0x1p-2', '1e1000', '1i', '-9', SECRET],
    ...['printf "%*[2]d" 1 2', '\\u00e9', '{{range 1000000}}x{{end}}', 'and ', 'or ', 'ge '],
  ],
  mutate: mutateText,
  smaller: smallerText,
  open: () => ({ text }) => {
    const template = bootstrapRenderer(text);
    if (template._tag === 'Unparseable') {
      expectThat(template.problem.length <= PROBLEM_MAX, 'the problem is too long');
      expectThat(!template.problem.includes(SECRET), 'the problem quotes the template');
      return masked(template.problem);
    }
    const answers = CONTEXTS.map((context) => template.render(context));
    return answers.map((answer) => {
      if (answer._tag === 'Rendered') {
        expectThat(answer.userData.length <= OUTPUT_MAX, 'the output is too long');
        return answer.userData === '' ? 'empty' : 'rendered';
      }
      expectThat(answer.problem.length <= PROBLEM_MAX, 'the problem is too long');
      expectThat(!answer.problem.includes(SECRET), 'the problem quotes the template');
      return masked(answer.problem);
    }).join('; ');
  },
};
