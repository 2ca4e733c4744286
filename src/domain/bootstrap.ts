/**
 * What a new machine is told at its first boot: the operator's template over a bootstrap pull.
 *
 * Promises: pure and bounded, so a pull is answered in the moment it arrives (WIRE-09); a template
 * that is none is refused when it is read, with line and column; one that cannot be rendered is an
 * answer that says why, never a throw. Rules: BOOT-01 to BOOT-04.
 */
import {
  type GoType,
  parseTemplate,
  type Place,
  renderValue,
  sliceValue,
  STRING,
  stringValue,
  type StructType,
  structValue,
  toBytes,
  type Value,
} from '@tidegate/go-template';
import type { BootstrapPull } from './frames.ts';
import type { BootstrapAnswer } from './session.ts';

/** The part of a pull that a template sees. */
export type BootstrapContext = Pick<BootstrapPull, 'clusterId' | 'requirements'>;

/** Makes the blob of a pull, or says why it cannot. */
export type BootstrapRenderer = (context: BootstrapContext) => BootstrapAnswer;

/** What becomes of a template's text; `message` names line and problem, in Go's words. */
export type BootstrapTemplate =
  | { readonly _tag: 'Ready'; readonly render: BootstrapRenderer }
  | ({ readonly _tag: 'Unparseable'; readonly message: string } & Place);

/** What messages call the template. */
const TEMPLATE_NAME = 'bootstrap';

const STRINGS: GoType = { kind: 'slice', element: STRING };

/** `.Requirements` one by one. The names are those that authors of templates know from messages. */
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

const text = (value: string): Value => stringValue(toBytes(value));

/** A pull as the struct that a template looks into. */
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

/** Without a template a machine gets nothing to run, and a comment that says so. */
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
  const parsed = parseTemplate(TEMPLATE_NAME, templateText);
  if (parsed._tag === 'Unparseable') return parsed;
  return {
    _tag: 'Ready',
    render: (context) => {
      const answer = renderValue(parsed.template, bootstrapValue(context));
      return answer._tag === 'Rendered'
        ? { _tag: 'Rendered', userData: answer.text }
        : { _tag: 'Failed', problem: answer.message };
    },
  };
};
