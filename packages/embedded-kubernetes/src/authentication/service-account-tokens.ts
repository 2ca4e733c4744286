/**
 * Tokens of service accounts (`TokenRequest`).
 *
 * Promises: a token counts until it expires, and only while the service account that it was issued
 * for exists; it has the form of a JWT, but its signature is a number that only this cluster knows.
 * Source: `pkg/registry/core/serviceaccount/storage/token.go`.
 */
import { type JsonRecord, listOrEmptyAt, numberAt, recordAt, textAt } from '../values/json.ts';
import { rfc3339Seconds, type Time } from '../values/time.ts';
import type { ObjectName } from '../storage/collection.ts';
import type { Identifiers } from '../storage/identifiers.ts';
import type { Store } from '../storage/store.ts';
import { invalid, invalidObject } from '../validation/field-problem.ts';
import { notFound } from '../validation/problem.ts';
import { AUTHENTICATED, serviceAccountGroups, serviceAccountUser, type User } from './user.ts';

const ACCOUNTS = 'serviceaccounts';
const ISSUER = 'https://kubernetes.default.svc';
const LIFETIME_SECONDS = 3600;
const LIFETIME_SECONDS_MIN = 600;

interface Issued {
  readonly at: ObjectName;
  readonly uid: string;
  readonly id: string;
  readonly expiresMs: number;
}

/** The audiences of tokens that name none. */
export const TOKEN_AUDIENCES: readonly string[] = [ISSUER];

/** The issued tokens. */
export interface ServiceAccountTokens {
  /** Answers a TokenRequest for a service account; throws when it is absent. */
  readonly issue: (at: ObjectName, request: JsonRecord) => JsonRecord;
  /** The user of a token; undefined when it does not count. */
  readonly userOf: (token: string) => User | undefined;
}

const base64Url = (value: unknown): string =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

const lifetimeSeconds = (request: JsonRecord, { name }: ObjectName): number => {
  const seconds = numberAt(request, 'spec', 'expirationSeconds') ?? LIFETIME_SECONDS;
  if (seconds >= LIFETIME_SECONDS_MIN) return seconds;
  throw invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, name, [
    invalid(
      'spec.expirationSeconds',
      seconds,
      'may not specify a duration less than 10 minutes',
    ),
  ]);
};

const audiencesOf = (request: JsonRecord): readonly unknown[] => {
  const asked = listOrEmptyAt(request, 'spec', 'audiences');
  return asked.length === 0 ? TOKEN_AUDIENCES : asked;
};

interface Sources {
  readonly store: Store;
  readonly time: Time;
  readonly identifiers: Identifiers;
}

interface Claims {
  readonly at: ObjectName;
  readonly uid: string;
  readonly id: string;
  readonly audiences: readonly unknown[];
  readonly issuedMs: number;
  readonly expiresMs: number;
}

const tokenOf = (claims: Claims, signature: string): string => {
  const { at: { namespace, name }, uid, id, audiences, issuedMs, expiresMs } = claims;
  const issued = Math.floor(issuedMs / 1000);
  const payload = {
    aud: audiences,
    exp: Math.floor(expiresMs / 1000),
    iat: issued,
    iss: ISSUER,
    jti: id,
    'kubernetes.io': { namespace, serviceaccount: { name, uid } },
    nbf: issued,
    sub: serviceAccountUser({ namespace, name }),
  };
  return [base64Url({ alg: 'none' }), base64Url(payload), signature.replaceAll('-', '')].join('.');
};

/** No token is issued yet. */
export const serviceAccountTokens = (
  { store, time, identifiers }: Sources,
): ServiceAccountTokens => {
  const issued = new Map<string, Issued>();
  const account = (at: ObjectName) => store.collection(ACCOUNTS).get(at);
  return {
    issue: (at, request) => {
      const found = account(at);
      if (found === undefined) throw notFound({ group: '', kind: ACCOUNTS }, at.name);
      const uid = textAt(found, 'metadata', 'uid') ?? '';
      const seconds = lifetimeSeconds(request, at);
      const issuedMs = time.now();
      const expiresMs = issuedMs + seconds * 1000;
      const [id, audiences] = [identifiers.uid(), audiencesOf(request)];
      const claims = { at, uid, id, audiences, issuedMs, expiresMs };
      const token = tokenOf(claims, identifiers.uid());
      issued.set(token, claims);
      const { namespace, name } = at;
      return {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { name, namespace, uid, creationTimestamp: rfc3339Seconds(issuedMs) },
        spec: {
          audiences,
          expirationSeconds: seconds,
          boundObjectRef: recordAt(request, 'spec', 'boundObjectRef') ?? null,
        },
        status: { token, expirationTimestamp: rfc3339Seconds(expiresMs) },
      };
    },
    userOf: (token) => {
      const known = issued.get(token);
      if (known === undefined) return undefined;
      const isAlive = textAt(account(known.at), 'metadata', 'uid') === known.uid;
      if (!isAlive || time.now() >= known.expiresMs) return undefined;
      const { namespace } = known.at;
      return {
        name: serviceAccountUser(known.at),
        uid: known.uid,
        groups: [...serviceAccountGroups(namespace), AUTHENTICATED],
        extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${known.id}`] },
      };
    },
  };
};
