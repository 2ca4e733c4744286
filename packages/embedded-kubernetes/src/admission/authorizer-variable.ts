/**
 * The variable `authorizer` of policies: checks what the requesting user, or a service account, may
 * do. Source: `apiserver/pkg/cel/library/authz.go`.
 */
import type { Environment } from '@marcbachmann/cel-js';
import {
  AUTHENTICATED,
  serviceAccountGroups,
  serviceAccountUser,
  type User,
  withGroup,
} from '../authentication/user.ts';
import type { ResourceAction } from '../authorization/action.ts';
import type { Authorizer, Verdict } from '../authorization/authorizer.ts';
import { labelNameProblems, subdomainProblems } from '../validation/names.ts';

interface Asking {
  readonly authorizer: Authorizer;
  readonly user: User;
}

class Decision {
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    this.verdict = verdict;
  }
}

class PathCheck {
  readonly asking: Asking;
  readonly path: string;

  constructor(asking: Asking, path: string) {
    this.asking = asking;
    this.path = path;
  }

  check(verb: string): Decision {
    const { authorizer, user } = this.asking;
    return new Decision(authorizer.decide(user, { _tag: 'Path', verb, path: this.path }));
  }
}

class ResourceCheck {
  readonly asking: Asking;
  readonly action: ResourceAction;

  constructor(asking: Asking, action: ResourceAction) {
    this.asking = asking;
    this.action = action;
  }

  with(part: Partial<ResourceAction>): ResourceCheck {
    return new ResourceCheck(this.asking, { ...this.action, ...part });
  }

  check(verb: string): Decision {
    const { authorizer, user } = this.asking;
    return new Decision(authorizer.decide(user, { ...this.action, verb }));
  }
}

class GroupCheck {
  readonly asking: Asking;
  readonly group: string;

  constructor(asking: Asking, group: string) {
    this.asking = asking;
    this.group = group;
  }
}

class AuthorizerVariable {
  readonly asking: Asking;
  readonly requestResource: ResourceCheck;

  constructor(asking: Asking, request: ResourceAction) {
    this.asking = asking;
    this.requestResource = new ResourceCheck(asking, request);
  }
}

const NOTHING: ResourceAction = {
  _tag: 'Resource',
  verb: '',
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
};

const notEmpty = (what: string, text: string): string => {
  if (text.trim() === '') throw new Error(`${what} must not be empty`);
  return text;
};

const asAccount = (
  { asking, requestResource }: AuthorizerVariable,
  namespace: string,
  name: string,
): AuthorizerVariable => {
  if (labelNameProblems(namespace).length > 0) throw new Error('Invalid service account namespace');
  if (subdomainProblems(name).length > 0) throw new Error('Invalid service account name');
  const user: User = {
    name: serviceAccountUser({ namespace, name }),
    uid: '',
    groups: withGroup(serviceAccountGroups(namespace), AUTHENTICATED),
    extra: {},
  };
  return new AuthorizerVariable({ ...asking, user }, requestResource.action);
};

/** An environment in which expressions may use `authorizer`. */
export const withAuthorizer = (environment: Environment): Environment =>
  environment.registerType('Decision', Decision)
    .registerType('PathCheck', PathCheck)
    .registerType('ResourceCheck', ResourceCheck)
    .registerType('GroupCheck', GroupCheck)
    .registerType('Authorizer', {
      ctor: AuthorizerVariable,
      fields: { requestResource: 'ResourceCheck' },
    })
    .registerVariable('authorizer', 'Authorizer')
    .registerFunction(
      'Authorizer.path(string): PathCheck',
      (of: AuthorizerVariable, path: string) => new PathCheck(of.asking, notEmpty('path', path)),
    )
    .registerFunction(
      'Authorizer.group(string): GroupCheck',
      (of: AuthorizerVariable, group: string) => new GroupCheck(of.asking, group),
    )
    .registerFunction('Authorizer.serviceAccount(string, string): Authorizer', asAccount)
    .registerFunction(
      'GroupCheck.resource(string): ResourceCheck',
      ({ asking, group }: GroupCheck, resource: string) =>
        new ResourceCheck(asking, {
          ...NOTHING,
          group,
          resource: notEmpty('resource', resource),
        }),
    )
    .registerFunction(
      'ResourceCheck.subresource(string): ResourceCheck',
      (of: ResourceCheck, subresource: string) => of.with({ subresource }),
    )
    .registerFunction(
      'ResourceCheck.namespace(string): ResourceCheck',
      (of: ResourceCheck, namespace: string) => of.with({ namespace }),
    )
    .registerFunction(
      'ResourceCheck.name(string): ResourceCheck',
      (of: ResourceCheck, name: string) => of.with({ name }),
    )
    .registerFunction(
      'ResourceCheck.check(string): Decision',
      (of: ResourceCheck, verb: string) => of.check(verb),
    )
    .registerFunction(
      'PathCheck.check(string): Decision',
      (of: PathCheck, verb: string) => of.check(verb),
    )
    .registerFunction('Decision.allowed(): bool', ({ verdict }: Decision) => verdict.allowed)
    .registerFunction('Decision.reason(): string', ({ verdict }: Decision) => verdict.reason)
    .registerFunction('Decision.errored(): bool', () => false)
    .registerFunction('Decision.error(): string', () => '');

/** The value of `authorizer` for one request. */
export const authorizerVariable = (
  authorizer: Authorizer,
  user: User,
  request: Partial<ResourceAction>,
): AuthorizerVariable => new AuthorizerVariable({ authorizer, user }, { ...NOTHING, ...request });
