/**
 * Evaluates the expressions of a policy for one write.
 *
 * Promises: a failed evaluation denies, unless the failure policy is Ignore; a failed message falls
 * back to the plain one. Source: `apiserver/pkg/admission/plugin/policy/validating/validator.go`.
 */
import type { JsonRecord } from '../values/json.ts';
import { type User, userInfoOf } from '../authentication/user.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { celJson, evaluationError } from '../cel/expressions.ts';
import { type Attempt, namespaceOfAttempt, sentKind } from './attempt.ts';
import { authorizerVariable } from './authorizer-variable.ts';
import type { Expression, Named, PolicyExpressions, Validation } from './policy-expressions.ts';

/** A write was not valid. */
export interface Denial {
  readonly message: string;
  readonly reason: string;
}

/** One write, as expressions see it. */
export interface Scene {
  readonly attempt: Attempt;
  readonly user: User;
  readonly authorizer: Authorizer;
  readonly namespaceObject: JsonRecord | undefined;
}

type Variables = Readonly<Record<string, unknown>>;

const unlessEmpty = (field: string, text: string): JsonRecord =>
  text === '' ? {} : { [field]: text };

const requestOf = ({ attempt, user }: Scene): JsonRecord => {
  const { kind, at, subresource = '', operation, dryRun } = attempt;
  const resource = { group: kind.group, version: kind.version, resource: kind.plural };
  const sent = sentKind(attempt);
  return {
    uid: '',
    kind: sent,
    resource,
    ...unlessEmpty('subResource', subresource),
    requestKind: sent,
    requestResource: resource,
    ...unlessEmpty('requestSubResource', subresource),
    ...unlessEmpty('name', at.name),
    ...unlessEmpty('namespace', namespaceOfAttempt(attempt)),
    operation,
    userInfo: userInfoOf(user),
    dryRun,
  };
};

/** The variables that every expression sees; the authorizer is for those that may use it. */
export const sceneVariables = (scene: Scene): Variables => {
  const { attempt, user, authorizer, namespaceObject } = scene;
  const { kind, at, subresource = '' } = attempt;
  return {
    object: celJson(attempt.object ?? null),
    oldObject: celJson(attempt.oldObject ?? null),
    request: celJson(requestOf(scene)),
    namespaceObject: celJson(namespaceObject ?? null),
    authorizer: authorizerVariable(authorizer, user, {
      group: kind.group,
      resource: kind.plural,
      subresource,
      namespace: namespaceOfAttempt(attempt),
      name: at.name,
    }),
  };
};

const evaluated = ({ program }: Expression, variables: Variables): unknown => {
  if (program._tag === 'Unusable') throw new Error(program.why);
  return program.evaluate(variables);
};

const failureText = ({ text }: Expression, cause: unknown): string =>
  `expression '${text}' resulted in error: ${evaluationError(cause)}`;

const lazily = (evaluate: () => unknown): () => unknown => {
  let known: { readonly value: unknown } | undefined;
  return () => (known ??= { value: evaluate() }).value;
};

/** `variables`: each evaluates itself when it is first read. */
const withVariables = (named: readonly Named[], scene: Variables): Variables => {
  const variables = {};
  const all = { ...scene, variables };
  for (const { name, expression } of named) {
    const get = lazily(() => evaluated(expression, all));
    Object.defineProperty(variables, name, { enumerable: true, get });
  }
  return all;
};

const wordedMessage = ({ worded }: Validation, variables: Variables): string => {
  if (worded === undefined) return '';
  try {
    const text = evaluated(worded, variables);
    return typeof text === 'string' && !text.trim().includes('\n') ? text.trim() : '';
  } catch {
    return '';
  }
};

interface Sides {
  readonly ofValidations: Variables;
  /** Messages may not ask the authorizer. */
  readonly ofMessages: Variables;
}

const denialOf = (
  validation: Validation,
  { ofValidations, ofMessages }: Sides,
  ignoresFailures: boolean,
): Denial | undefined => {
  const { holds, message, reason } = validation;
  try {
    if (evaluated(holds, ofValidations) === true) return undefined;
  } catch (cause) {
    return ignoresFailures ? undefined : { message: failureText(holds, cause), reason: 'Invalid' };
  }
  const text = wordedMessage(validation, ofMessages) || message ||
    `failed expression: ${holds.text.trim()}`;
  return { message: text, reason };
};

interface Conditions {
  readonly isMet: boolean;
  readonly failure: string | undefined;
}

/** One condition that is false excuses failures of the others. */
const conditionsOf = (conditions: readonly Named[], variables: Variables): Conditions => {
  let failure: string | undefined;
  for (const { expression } of conditions) {
    try {
      if (evaluated(expression, variables) !== true) return { isMet: false, failure: undefined };
    } catch (cause) {
      failure ??= failureText(expression, cause);
    }
  }
  return { isMet: true, failure };
};

/** Why a write is not valid; empty when it is. */
export const denialsOf = (
  { conditions, variables: named, validations }: PolicyExpressions,
  scene: Variables,
  ignoresFailures: boolean,
): readonly Denial[] => {
  const { isMet, failure } = conditionsOf(conditions, { ...scene, variables: {} });
  if (!isMet) return [];
  if (failure !== undefined) {
    return ignoresFailures ? [] : [{ message: failure, reason: 'Invalid' }];
  }
  const { authorizer: _, ...silent } = scene;
  const sides = {
    ofValidations: withVariables(named, scene),
    ofMessages: withVariables(named, silent),
  };
  return validations.flatMap((validation) => denialOf(validation, sides, ignoresFailures) ?? []);
};
