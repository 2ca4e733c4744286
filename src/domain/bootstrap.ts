/**
 * The user data of a new machine: the operator's template applied to a bootstrap pull.
 *
 * Promises: pure and bounded, so a pull is answered immediately (WIRE-09); an invalid template is
 * refused when it is read; a template that fails to render yields a failure and never throws. Both
 * have line, column and Go's reason, and no content: templates hold secrets. Rules: BOOT-01 to
 * BOOT-04.
 */
import {
  type GoType,
  parseTemplate,
  renderValue,
  sliceValue,
  STRING,
  stringValue,
  type StructType,
  structValue,
  type TemplateFailure,
  toBytes,
  type Value,
} from '@tidegate/go-template';
import type { BootstrapPull } from './frames.ts';
import type { BootstrapAnswer } from './session.ts';

/** The fields of a pull that a template sees. */
export type BootstrapContext = Pick<BootstrapPull, 'clusterId' | 'requirements'>;

/** Renders the user data of a pull, or returns the problem. */
export type BootstrapRenderer = (context: BootstrapContext) => BootstrapAnswer;

/** A parsed template, or the problem with its place. */
export type BootstrapTemplate =
  | { readonly _tag: 'Ready'; readonly render: BootstrapRenderer }
  | { readonly _tag: 'Unparseable'; readonly problem: string };

/** Line, column and Go's reason; never Go's message, which quotes the template and its data. */
const problemOf = ({ line, column, reason }: TemplateFailure): string =>
  `line ${line}, column ${column}: ${reason}`;

/** The template's name in messages. */
const TEMPLATE_NAME = 'bootstrap';

const STRINGS: GoType = { kind: 'slice', element: STRING };

/** Entries of `.Requirements`. Go's error messages use these names. */
const REQUIREMENT: StructType = {
  kind: 'struct',
  name: 'operator.Requirement',
  fields: [['Key', STRING], ['Operator', STRING], ['Values', STRINGS]],
};

/** The dot of a bootstrap template. */
const INPUT: StructType = {
  kind: 'struct',
  name: 'operator.BootstrapRendererInput',
  fields: [['ClusterID', STRING], ['Requirements', { kind: 'slice', element: REQUIREMENT }]],
};

/** No cloud takes as much user data, and more would hold up everything else while it is read. */
const TEMPLATE_CHARACTERS_MAX = 256 * 1024;

const text = (value: string): Value => stringValue(toBytes(value));

/** A pull as the struct that the template receives. */
const bootstrapValue = ({ clusterId, requirements }: BootstrapContext): Value =>
  structValue(INPUT, [
    text(clusterId),
    sliceValue(
      REQUIREMENT,
      requirements.map(({ key, operator, values }) =>
        structValue(REQUIREMENT, [
          text(key),
          text(operator),
          sliceValue(STRING, values.map(text)),
        ])
      ),
    ),
  ]);

/** Without a template, a machine gets user data with only a comment. */
const stub: BootstrapRenderer = ({ clusterId }) => ({
  _tag: 'Rendered',
  userData: `#cloud-config\n# Cluster ${JSON.stringify(clusterId)} has no bootstrap template.\n`,
});

/**
 * The renderer of a template; without one, of a `#cloud-config` stub that names the cluster.
 *
 * @example
 * const template = bootstrapRenderer('#cloud-config\nhostname: {{.ClusterID}}\n');
 */
export const bootstrapRenderer = (templateText: string | undefined): BootstrapTemplate => {
  if (templateText === undefined) return { _tag: 'Ready', render: stub };
  if (templateText.length > TEMPLATE_CHARACTERS_MAX) {
    const problem = `the template has more than ${TEMPLATE_CHARACTERS_MAX} characters`;
    return { _tag: 'Unparseable', problem };
  }
  const parsed = parseTemplate(TEMPLATE_NAME, templateText);
  if (parsed._tag === 'Unparseable') return { _tag: 'Unparseable', problem: problemOf(parsed) };
  return {
    _tag: 'Ready',
    render: (context) => {
      const answer = renderValue(parsed.template, bootstrapValue(context));
      return answer._tag === 'Rendered'
        ? { _tag: 'Rendered', userData: answer.text }
        : { _tag: 'Failed', problem: `Cannot render the template: ${problemOf(answer)}` };
    },
  };
};
